import AlertCore
import Foundation
import PostgreSQL
import PostgreSQLStore
import PostgreSQLTesting
import StoreChecks
import TestSupport

/// A queue of its own in the database that all tests share.
package struct PostgreSQLQueue {
    package let server: PostgreSQLServer
    /// The URI of its database.
    private let database: String
    package let location: PostgreSQLLocation
    /// The location as it is given to other processes.
    package let uri: String
    /// Its name in the database.
    package let name: String

    /// - Parameters:
    ///   - isPooled: Whether its stores connect through a pooler in transaction mode, and are not
    ///     told of changes.
    ///   - hasDatabase: Whether it is the only one of its database.
    package init(isPooled: Bool = false, hasDatabase: Bool = false) async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = hasDatabase ? try server.makeDatabase() : server.uri
        let name = UUID().uuidString
        // As in a file, accounts of this host have no host in the log.
        let direct = "\(database)&queue=\(name)&host_name=here"
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(direct))
        try Connection(database).run(
            "UPDATE queues SET host = 'here' WHERE name = $1", .text(name))
        if isPooled {
            let pooler = try await Self.sharedPooler.value
            uri =
                "postgresql:///?\(Self.query(pooler.location))&queue=\(name)&notify=off"
                + "&host_name=here"
        } else {
            uri = direct
        }
        location = try PostgreSQLLocation(uri)
        (self.server, self.database, self.name) = (server, database, name)
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
    package func open(
        _ clock: any AlertClock, on host: String? = nil
    ) async throws(AlertError) -> PostgreSQLAlertStore {
        let location =
            try host.map { host throws(AlertError) in
                try PostgreSQLLocation("\(database)&queue=\(name)&host_name=\(host)")
            } ?? location
        return try await PostgreSQLAlertStore.open(
            location, clock: ServerClock(manual: clock), caller: ContractQueue.keeper,
            appliesDeadlines: true, checksDurability: false)
    }

    package var contract: ContractQueue { ContractQueue { try await self.open($0) } }

    /// A connection to its database.
    package func connect() throws -> Connection { try Connection(database) }
}

/// Queues for tests that know the public library alone.
public enum ServerQueue {
    /// Whether tests on a server run.
    public static var isTried: Bool { PostgreSQLServer.isTried }

    /// Makes a queue on a server that waits for its disk; returns its location.
    public static func make() async throws -> String {
        let location = try await PostgreSQLServer.durable.value.uri + "&queue=\(UUID())"
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(location))
        return location
    }
}
