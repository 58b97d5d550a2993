import PostgreSQL
import PostgreSQLTesting
import TestSupport

@testable import AlertCore
@testable import PostgreSQLStore

/// A queue on servers that a test may kill.
struct OwnServers {
    let servers: [PostgreSQLServer]
    let location: PostgreSQLLocation

    /// - Parameter servers: The first one is written.
    init(_ servers: [PostgreSQLServer]) throws {
        self.servers = servers
        let hosts = servers.map { server in
            server.location.split(separator: " ")[0].dropFirst("host=".count)
                .replacing("/", with: "%2F")
        }
        location = try PostgreSQLLocation(
            "postgresql:///postgres?host=\(hosts.joined(separator: ","))&user=alertq")
        try PostgreSQLSchema.setUp(location)
    }

    /// A primary that waits for its standby.
    ///
    /// - Parameter clock: How far the standby's clock is ahead, in seconds.
    static func pair(clock: Int = 0) async throws -> OwnServers {
        let primary = try await PostgreSQLServer(
            settings: ["synchronous_standby_names": "other"])
        let standby = try await PostgreSQLServer(
            standbyOf: primary, name: "other", clock: clock)
        return try OwnServers([primary, standby])
    }

    func open(
        busyTime: Duration = .seconds(5), askingTime: Duration = .zero
    ) async throws(AlertError) -> PostgreSQLAlertStore {
        try await PostgreSQLAlertStore.open(
            location, caller: .keeper, busyTime: busyTime, askingTime: askingTime,
            appliesDeadlines: true, checksDurability: false)
    }

    func connect() throws -> Connection { try Connection(location.uri) }
}
