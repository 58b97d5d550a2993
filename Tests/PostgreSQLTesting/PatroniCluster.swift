import Foundation
import Glibc
import Linux
import PostgreSQL
import Synchronization
import TestSupport
import Testing

/// Three servers on 127.0.0.1 that Patroni manages, with one etcd, for as long as something
/// references it.
package final class PatroniCluster: Sendable {
    /// What a test needs besides a server; Patroni has no program of its own, but that of Python.
    private static let programs = [
        "/usr/bin/etcd", "/usr/bin/patroni", "/usr/bin/python3", "/usr/bin/patronictl",
    ]

    static var isInstalled: Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private let directory: TemporaryDirectory
    private let etcd: Child
    private let etcdPort: UInt16
    private let ports: [UInt16]
    private let managers = Mutex<[Child?]>([nil, nil, nil])

    /// Starts it, and returns when one server leads and the others follow it.
    package init() async throws {
        directory = try TemporaryDirectory("patroni-")
        if let account = PostgreSQLServer.account {
            chown(directory.path, account.uid, account.gid)
        }
        ports = try (0..<3).map { _ in try PostgreSQLServer.freePort() }
        etcdPort = try PostgreSQLServer.freePort()
        let (clients, peers) = (
            "http://127.0.0.1:\(etcdPort)",
            "http://127.0.0.1:\(try PostgreSQLServer.freePort())"
        )
        etcd = try Child(
            Self.programs[0],
            [
                "--data-dir", directory.path + "/etcd", "--listen-client-urls", clients,
                "--advertise-client-urls", clients, "--listen-peer-urls", peers,
                "--initial-advertise-peer-urls", peers, "--initial-cluster",
                "default=" + peers,
            ], as: PostgreSQLServer.account)
        for node in ports.indices { try start(node) }
        try await waitForStandbys()
    }

    deinit { for node in ports.indices { kill(node) } }

    /// The URI of its database, with all hosts.
    package var uri: String {
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return "postgresql://alertq@\(hosts)/postgres?target_session_attrs=read-write"
            + "&sslmode=disable&gssencmode=disable"
    }

    /// What the managers have logged last.
    package var log: String {
        managers.withLock { $0 }.map { String(($0?.errors.text ?? "").suffix(2000)) }
            .joined(separator: "\n--\n")
    }

    // MARK: Nodes

    /// Starts the manager of a node, which starts its server.
    package func start(_ node: Int) throws {
        let file = "\(directory.path)/node\(node).yml"
        // YAML has JSON in it.
        let data = try JSONSerialization.data(withJSONObject: try configuration(of: node))
        try data.write(to: URL(filePath: file))
        if let account = PostgreSQLServer.account { chown(file, account.uid, account.gid) }
        let child = try Child(
            Self.programs[2], [Self.programs[1], file], as: PostgreSQLServer.account)
        managers.withLock { $0[node] = child }
    }

    /// Kills the manager of a node, and its server.
    package func kill(_ node: Int) {
        managers.withLock { managers in
            managers[node]?.kill(SIGKILL)
            managers[node] = nil
        }
        // Written by the server, and removed when it ends in order.
        let file = LinuxFile.text(data(of: node) + "/postmaster.pid") ?? ""
        if let pid = file.split(separator: "\n").first.flatMap({ Int32($0) }),
            LinuxFile.whole("/proc/\(pid)/cmdline").contains(data(of: node))
        {
            Glibc.kill(pid, SIGKILL)
        }
    }

    private func data(of node: Int) -> String { "\(directory.path)/data\(node)" }

    private func configuration(of node: Int) throws -> [String: Any] {
        let access = [
            "local all all trust", "host all all 127.0.0.1/32 trust",
            "host replication all 127.0.0.1/32 trust",
        ]
        let account = { (name: String) in ["username": name, "password": "unused"] }
        let api = "127.0.0.1:\(try PostgreSQLServer.freePort())"
        let listens = "127.0.0.1:\(ports[node])"
        return [
            "scope": "alertq", "name": "node\(node)",
            "restapi": ["listen": api, "connect_address": api],
            "etcd3": ["host": "127.0.0.1:\(etcdPort)"],
            "bootstrap": [
                "dcs": [
                    // The shortest times that it takes.
                    "ttl": 20, "loop_wait": 1, "retry_timeout": 3,
                    "maximum_lag_on_failover": 1 << 20, "synchronous_mode": true,
                    "postgresql": [
                        "use_pg_rewind": true, "parameters": ["wal_log_hints": "on"],
                    ],
                ] as [String: Any],
                "initdb": [["encoding": "UTF8"], ["locale": "C"]], "pg_hba": access,
            ] as [String: Any],
            "postgresql": [
                "listen": listens, "connect_address": listens, "data_dir": data(of: node),
                "bin_dir": PostgreSQLServer.programs.map { String($0.dropLast()) } ?? "",
                "pgpass": "\(directory.path)/pgpass\(node)", "pg_hba": access,
                "authentication": [
                    "superuser": account("alertq"), "replication": account("replicator"),
                    "rewind": account("rewinder"),
                ],
                "parameters": [
                    "unix_socket_directories": directory.path,
                    "dynamic_shared_memory_type": "mmap", "shared_buffers": "16MB",
                ],
            ] as [String: Any],
        ]
    }

    // MARK: Roles

    /// The node whose server may be written; `nil` if there is none.
    package var leader: Int? {
        let port = try? Connection(uri).first("SELECT inet_server_port()") { $0.integer() }
        return ports.firstIndex { Int64($0) == port }
    }

    /// The nodes and their roles, as the managers know them.
    private func members() async -> String {
        let list = try? Child(
            Self.programs[2],
            [Self.programs[3], "-c", "\(directory.path)/node0.yml", "list", "--format", "json"])
        return await list?.finish().output ?? ""
    }

    /// Returns when one server leads and the others follow it, one of them synchronously, and the
    /// managers know which: until they do, none takes the place of a leader.
    package func waitForStandbys() async throws {
        let sql = """
            SELECT count(*) = 2 AND count(*) FILTER (WHERE sync_state = 'sync') = 1
            FROM pg_stat_replication WHERE state = 'streaming'
            """
        let isWhole = await eventually(each: .milliseconds(200)) {
            guard (try? Connection(uri).first(sql) { $0.optionalText() }) == "t" else {
                return false
            }
            return await members().contains("Sync Standby")
        }
        guard isWhole else { throw TestingError("the cluster is not whole: \(log)") }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that need a cluster and take minutes: the full form of the faults.
    package static var needsCluster: Self {
        .enabled(
            if: FaultForm.isFull && PatroniCluster.isInstalled && PostgreSQLServer.isTried,
            "takes minutes, for ALERTQ_FAULTS=full, and needs the packages etcd and patroni")
    }
}
