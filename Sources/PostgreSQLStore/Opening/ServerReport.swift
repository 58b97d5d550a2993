/// How durable a server is, how busy, and what the role may do there.
struct ServerReport: Sendable {
    let version: String
    /// The address and the port at which it was reached; `nil` for the server's socket.
    let address: String?
    /// Whether it writes to its disk, and whole pages: `fsync` and `full_page_writes`.
    let isSynced: Bool
    /// Its `synchronous_commit`.
    let commit: String
    /// Whether a commit with that is acknowledged only once it can't be lost.
    let keepsCommits: Bool
    /// Its `synchronous_standby_names`; empty if a commit waits for no standby.
    let standbyNames: String
    /// How many standbys it waits for now, as far as the account may see them, and how many there are.
    let synchronousStandbys: Int
    let standbys: Int
    /// How far the slowest standby is behind, in bytes of the log.
    let lag: Int64
    let connections: Int
    let maximumConnections: Int
    /// How far the server's clock is ahead of this machine's.
    let skew: Duration
    /// Whether the account may see how each standby does.
    let seesStandbys: Bool
    /// The role's name, as SQL writes it.
    let role: String
    /// For each of `SELECT`, `INSERT`, `UPDATE` and `DELETE`, the tables for which the role lacks that,
    /// although programs and people need it; `nil` if it does not even see all of them.
    let missingRights: [(right: String, tables: [String])]?
    /// The session that keeps others from writing, if one has for longer than a write takes, and the
    /// role may see it.
    let lockHolder: Session?
    /// The roles beside the owner that may create something in the schema of the tables.
    var creators: [String] = []
    /// How far the queue's time is ahead of the server's clock, since that was set.
    var offset: Duration = .zero
    /// How far the last time in the queue's log is ahead of its time now.
    var lead: Duration = .zero

    /// A session of the server in a transaction.
    struct Session: Sendable {
        /// Its process on the server.
        let process: Int
        let role: String
        /// The address of its client; `nil` if it came through the server's socket.
        let address: String?
        /// What it is doing, as `pg_stat_activity` says it.
        let state: String
        /// How long its transaction has lasted.
        let age: Duration
        /// Whether it has committed, and waits for a synchronous standby. Ended now, what it has stored
        /// is seen although no standby has it; see
        /// <https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION>.
        var waitsForStandby = false
    }
}
