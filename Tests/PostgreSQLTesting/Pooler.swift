import Foundation
import Glibc
import Linux
import TestSupport

/// PgBouncer in transaction mode before a server, for as long as something references it.
package final class Pooler: Sendable {
    private static let program = "/usr/sbin/pgbouncer"

    package static var isTried: Bool {
        access(program, X_OK) == 0 || getenv("ALERTQ_TRY_ALL") != nil
    }

    /// Becomes the program, after it has started a shell that ends it when standard input ends, which
    /// the process of the tests holds open.
    private static let supervised = """
        exec 3<&0 </dev/null
        (read -r _ <&3; kill -KILL $$) & exec 3<&-
        exec "$@"
        """

    private let directory: TemporaryDirectory
    private let child: Child
    private let lifeline: Linux.Pipe

    /// Starts it, and returns when it accepts connections.
    ///
    /// - Parameter size: How many sessions of the server its clients share.
    package init(before server: PostgreSQLServer, size: Int = 2) async throws {
        directory = try TemporaryDirectory("pool-")
        let configuration = """
            [databases]
            * = \(server.location(database: nil))
            [pgbouncer]
            unix_socket_dir = \(directory.path)
            listen_port = 6432
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(size)
            """
        let file = directory.path + "/pgbouncer.ini"
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        if let account = PostgreSQLServer.account {
            chown(directory.path, account.uid, account.gid)
        }
        lifeline = try Linux.Pipe(waits: true)
        child = try Child(
            "/bin/sh", ["-c", Self.supervised, "sh", Self.program, file],
            as: PostgreSQLServer.account, input: lifeline.reading.raw)
        let socket = directory.path + "/.s.PGSQL.6432"
        guard await eventually({ (try? UnixSocket.connect(to: socket)) != nil }) else {
            throw TestingError("pgbouncer does not start: \(child.errors.text)")
        }
    }

    /// The connection string of the server's database, through the pooler.
    package var location: String {
        "host=\(directory.path) port=6432 user=alertq dbname=postgres"
    }

    package func kill(_ signal: Int32) { child.kill(signal) }
}
