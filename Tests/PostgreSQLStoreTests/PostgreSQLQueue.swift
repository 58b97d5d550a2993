#if PostgreSQL
    import AlertQueueTesting
    import Foundation
    import PostgreSQL
    import PostgreSQLStore
    import PostgreSQLTesting
    import TestSupport

    @testable import AlertCore

    /// A queue of its own in the database that all tests share.
    struct PostgreSQLQueue {
        let server: PostgreSQLServer
        let location: PostgreSQLLocation
        /// Its name in the database.
        let name: String

        /// - Parameter isPooled: Whether its stores connect through a pooler in transaction mode, and
        ///   are not told of changes.
        init(isPooled: Bool = false) async throws {
            let server = try await PostgreSQLServer.shared.value
            let name = UUID().uuidString
            // As in a file, accounts of this host have no host in the log.
            let direct =
                "postgresql:///?\(Self.query(server.location))&queue=\(name)&host_name=here"
            try PostgreSQLSchema.setUp(try PostgreSQLLocation(direct))
            try Connection(server.location).run(
                "UPDATE queues SET host = 'here' WHERE name = $1", .text(name))
            if isPooled {
                let pooler = try await Self.sharedPooler.value
                location = try PostgreSQLLocation(
                    "postgresql:///?\(Self.query(pooler.location))&queue=\(name)&notify=off"
                        + "&host_name=here")
            } else {
                location = try PostgreSQLLocation(direct)
            }
            (self.server, self.name) = (server, name)
        }

        private static let sharedPooler = Task {
            try await Pooler(before: try await PostgreSQLServer.shared.value, size: 8)
        }

        /// The words of a connection string as the query of a URI.
        private static func query(_ location: String) -> String {
            location.split(separator: " ").map {
                $0.replacing("/", with: "%2F")
            }.joined(separator: "&")
        }

        /// Opens the queue, as another process would.
        ///
        /// - Parameter host: The name of the process's machine.
        func open(
            _ clock: any AlertClock, on host: String? = nil
        ) async throws(AlertError) -> PostgreSQLAlertStore {
            let location =
                try host.map { host throws(AlertError) in
                    try PostgreSQLLocation(
                        "postgresql:///?\(Self.query(server.location))&queue=\(name)&host_name=\(host)"
                    )
                } ?? location
            return try await PostgreSQLAlertStore.open(
                location, clock: ServerClock(manual: clock), caller: ContractQueue.keeper,
                appliesDeadlines: true, checksDurability: false)
        }

        var contract: ContractQueue { ContractQueue { try await self.open($0) } }

        /// A connection to its database.
        func connect() throws -> Connection { try Connection(server.location) }
    }
#endif
