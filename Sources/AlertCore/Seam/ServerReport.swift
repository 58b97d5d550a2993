/// What can be found out about the server that a queue is on.
package protocol ServerAdministration: Sendable {
    /// - Throws: ``AlertError/busy(_:)`` if the server can't be reached.
    func serverReport() throws(AlertError) -> ServerReport
}

/// How durable a server is, and how busy.
package struct ServerReport: Sendable {
    package let version: String
    /// Its `synchronous_commit`.
    package let commit: String
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

    package init(
        version: String, commit: String, standbyNames: String, synchronousStandbys: Int,
        standbys: Int, lag: Int64, connections: Int, maximumConnections: Int, skew: Duration
    ) {
        self.version = version
        self.commit = commit
        self.standbyNames = standbyNames
        self.synchronousStandbys = synchronousStandbys
        self.standbys = standbys
        self.lag = lag
        self.connections = connections
        self.maximumConnections = maximumConnections
        self.skew = skew
    }
}
