/// What can be found out about the server that a queue is on.
package protocol ServerAdministration: Sendable {
    /// - Throws: ``AlertError/unreachable(_:)``, and the errors of connecting.
    func serverReport() throws(AlertError) -> ServerReport
}

/// How durable a server is, how busy, and what the role may do there.
package struct ServerReport: Sendable {
    package let version: String
    /// The address and the port at which it was reached; `nil` for the server's socket.
    package let address: String?
    /// Whether it writes to its disk, and whole pages: `fsync` and `full_page_writes`.
    package let isSynced: Bool
    /// Its `synchronous_commit`.
    package let commit: String
    /// Whether a commit with that is acknowledged only once it can't be lost.
    package let keepsCommits: Bool
    /// Its `synchronous_standby_names`; empty if a commit waits for no standby.
    package let standbyNames: String
    /// How many standbys it waits for now, as far as the account may see them, and how many there are.
    package let synchronousStandbys: Int
    package let standbys: Int
    /// How far the slowest standby is behind, in bytes of the log.
    package let lag: Int64
    package let connections: Int
    package let maximumConnections: Int
    /// How far the server's clock is ahead of this machine's.
    package let skew: Duration
    /// Whether the account may see how each standby does.
    package let seesStandbys: Bool
    /// The role's name, as SQL writes it.
    package let role: String
    /// For each of `SELECT`, `INSERT`, `UPDATE` and `DELETE`, the tables for which the role lacks that,
    /// although programs and people need it; `nil` if it does not even see all of them.
    package let missingRights: [(right: String, tables: [String])]?
    /// The session that keeps others from writing, if one has for longer than a write takes, and the
    /// role may see it.
    package let lockHolder: Session?
    /// The roles beside the owner that may create something in the schema of the tables.
    package let creators: [String]
    /// How far the queue's time is ahead of the server's clock, since that was set.
    package let offset: Duration
    /// How far the last time in the queue's log is ahead of its time now.
    package let lead: Duration

    /// A session of the server in a transaction.
    package struct Session: Sendable {
        /// Its process on the server.
        package let process: Int
        package let role: String
        /// The address of its client; `nil` if it came through the server's socket.
        package let address: String?
        /// What it is doing, as `pg_stat_activity` says it.
        package let state: String
        /// How long its transaction has lasted.
        package let age: Duration
        /// Whether it has committed, and waits for a synchronous standby. Ended now, what it has stored
        /// is seen although no standby has it; see
        /// <https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION>.
        package let waitsForStandby: Bool

        package init(
            process: Int, role: String, address: String?, state: String, age: Duration,
            waitsForStandby: Bool = false
        ) {
            self.process = process
            self.role = role
            self.address = address
            self.state = state
            self.age = age
            self.waitsForStandby = waitsForStandby
        }
    }

    package init(
        version: String, address: String?, isSynced: Bool, commit: String, keepsCommits: Bool,
        standbyNames: String, synchronousStandbys: Int, standbys: Int, lag: Int64,
        connections: Int, maximumConnections: Int, skew: Duration, seesStandbys: Bool, role: String,
        missingRights: [(right: String, tables: [String])]?, lockHolder: Session?,
        creators: [String] = [], offset: Duration = .zero, lead: Duration = .zero
    ) {
        self.version = version
        self.address = address
        self.isSynced = isSynced
        self.commit = commit
        self.keepsCommits = keepsCommits
        self.standbyNames = standbyNames
        self.synchronousStandbys = synchronousStandbys
        self.standbys = standbys
        self.lag = lag
        self.connections = connections
        self.maximumConnections = maximumConnections
        self.skew = skew
        self.seesStandbys = seesStandbys
        self.role = role
        self.missingRights = missingRights
        self.lockHolder = lockHolder
        self.creators = creators
        (self.offset, self.lead) = (offset, lead)
    }
}
