import Foundation
import Glibc
import Linux
import PostgreSQL
import Synchronization
import TestSupport
import Testing

/// A server with a directory of its own, for as long as something references it.
///
/// It runs as another account if the tests run as root, which the server refuses, and ends with
/// the process of the tests, however that ends.
package final class PostgreSQLServer: Sendable {
    /// The programs of the newest version that is installed.
    static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = LinuxFile.names(in: root).compactMap { Int($0) }.sorted()
        return versions.last.map { "\(root)/\($0)/bin/" }
    }()

    /// Whether tests with a server run: they are skipped if none is installed, but not in
    /// `.ci/run`.
    package static var isTried: Bool { programs != nil || getenv("ALERTQ_TRY_ALL") != nil }

    /// One for all tests that only need a schema of their own.
    package static let shared = Task { try await PostgreSQLServer() }

    /// One that waits for its disk, without which the command uses no server.
    package static let durable = Task { try await PostgreSQLServer(isSynced: true) }

    /// The server refuses to run as root.
    static let account: LinuxAccount? = {
        guard geteuid() == 0, let entry = getpwnam("postgres") ?? getpwnam("nobody") else {
            return nil
        }
        return LinuxAccount(uid: entry.pointee.pw_uid, gid: entry.pointee.pw_gid)
    }()

    /// Runs a program in the background. When standard input ends, which the process of the tests
    /// holds open, it ends the program and removes the directory.
    private static let supervisor = """
        directory=$1; shift
        exec 3<&0 >>"$directory/log" 2>&1
        : >"$directory/wanted"
        "$@" 3<&- & program=$!
        (read -r _ <&3; rm "$directory/wanted"; kill -QUIT $program) & watch=$!
        wait $program; code=$?
        kill $watch
        [ -e "$directory/wanted" ] || rm -rf "$directory" || { sleep 1; rm -rf "$directory"; }
        exit $code
        """

    private struct Run {
        let supervisor: Child
        /// Closed, it ends the program.
        let lifeline: Linux.Pipe
    }

    private let directory: String
    private let settings: [String: String]
    /// What gives it another clock than this machine's.
    private let environment: [String: String]
    private let run = Mutex<Run?>(nil)
    /// The port of 127.0.0.1 on which it listens; `nil` for its socket alone.
    package let port: UInt16?

    private var data: String { directory + "/data" }

    /// Makes an empty server and starts it.
    ///
    /// - Parameters:
    ///   - directory: Where its files are; `$TMPDIR` by default. Its path must be short, because
    ///     that of a socket must be.
    ///   - isSynced: Whether it waits for the disk.
    ///   - listens: Whether it listens on a port, too.
    ///   - isSettable: Whether its clock can be set.
    package convenience init(
        in parent: String? = nil, isSynced: Bool = false, listens: Bool = false,
        isSettable: Bool = false, settings: [String: String] = [:]
    ) async throws {
        try self.init(
            in: parent, isSynced: isSynced, listens: listens, settings, isSettable: isSettable)
        if isSettable { try setClock(0) }
        try await program(
            "initdb", "--pgdata=\(data)", "--no-sync", "--auth=trust", "--username=alertq",
            "--encoding=UTF8", "--locale=C", "--no-instructions")
        try await start()
    }

    /// Copies a server and starts the copy as its hot standby.
    ///
    /// - Parameters:
    ///   - name: What `synchronous_standby_names` of the primary calls it.
    ///   - clock: How far its clock is ahead, in seconds; see faketime(1).
    package convenience init(
        standbyOf primary: PostgreSQLServer, name: String, clock: Int = 0
    ) async throws {
        try self.init(
            in: nil, isSynced: primary.settings["fsync"] == "on", listens: primary.port != nil,
            ["synchronous_standby_names": ""], clock: clock)
        try await program(
            "pg_basebackup", "--pgdata=\(data)", "--no-sync", "--write-recovery-conf",
            "--checkpoint=fast", "--dbname=\(primary.location) application_name=\(name)")
        try await start()
    }

    private init(
        in parent: String?, isSynced: Bool, listens: Bool, _ settings: [String: String],
        clock: Int = 0, isSettable: Bool = false
    ) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        let name = String(UInt64.random(in: 0...UInt64(UInt32.max)), radix: 36)
        directory = (parent.hasSuffix("/") ? parent : parent + "/") + "pg-" + name
        if isSettable {
            environment = try Self.variables(ofClock: clock, in: directory + "/clock")
        } else {
            environment = clock == 0 ? [:] : try Self.variables(ofClock: clock)
        }
        port = listens ? try Self.freePort() : nil
        let own = [
            "fsync": isSynced ? "on" : "off",
            "port": String(port ?? 5432),
            "listen_addresses": listens ? "127.0.0.1" : "",
            "unix_socket_directories": directory,
            // In its own directory, so that nothing of it is left when it is killed.
            "dynamic_shared_memory_type": "mmap",
            "shared_buffers": "16MB",
            // For the tests alone: nothing else depends on it.
            "search_path": "alertq,public",
        ]
        self.settings = own.merging(settings) { $1 }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        if let account = Self.account { chown(directory, account.uid, account.gid) }
    }

    /// The variables with which a program has another wall clock, but not another monotonic one.
    ///
    /// - Parameter file: Where it says which, each time that it is read.
    private static func variables(
        ofClock clock: Int, in file: String? = nil
    ) throws -> [String: String] {
        let library = ["x86_64", "aarch64"]
            .map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketime.so.1" }
            .first { FileManager.default.isReadableFile(atPath: $0) }
        guard let library else { throw TestingError("faketime is not installed") }
        let time =
            file.map { ["FAKETIME_TIMESTAMP_FILE": $0, "FAKETIME_NO_CACHE": "1"] }
            ?? ["FAKETIME": Self.text(ofClock: clock)]
        return ["LD_PRELOAD": library, "FAKETIME_DONT_FAKE_MONOTONIC": "1"].merging(time) { $1 }
    }

    private static func text(ofClock clock: Int) -> String {
        clock < 0 ? "\(clock)s" : "+\(clock)s"
    }

    /// Sets its clock, if it was made with one that can be set.
    ///
    /// - Parameter clock: How far it is ahead of this machine's from now on, in seconds.
    package func setClock(_ clock: Int) throws {
        try Self.text(ofClock: clock).write(
            toFile: directory + "/clock", atomically: true, encoding: .utf8)
    }

    deinit {
        let supervisor = run.withLock { run in
            defer { run = nil }
            return run?.supervisor
        }
        _ = supervisor?.wait()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts one of PostgreSQL's programs, which ends with the process of the tests.
    private func supervise(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Child {
        guard let programs = Self.programs else {
            throw TestingError("PostgreSQL is not installed: apt-get install postgresql")
        }
        let lifeline = try Linux.Pipe(waits: true)
        let supervisor = try Child(
            "/bin/sh",
            ["-c", Self.supervisor, "sh", directory, "env"]
                + environment.map { "\($0)=\($1)" } + [programs + name] + arguments,
            as: Self.account, input: lifeline.reading.raw)
        run.withLock { $0 = Run(supervisor: supervisor, lifeline: lifeline) }
        return supervisor
    }

    /// Runs one of PostgreSQL's programs to its end.
    private func program(_ name: String, _ arguments: String...) async throws {
        guard try await supervise(name, arguments).exit() == 0 else {
            throw TestingError("\(name) fails: \(log)")
        }
    }

    // MARK: Starting and ending

    /// Starts it, and returns when it accepts connections.
    package func start() async throws {
        // One that was killed has left its file, and children that may hold its memory for a moment.
        let former = state.first
        let isStarted = try await eventually(within: .seconds(60), each: .milliseconds(50)) {
            let child = try supervise(
                "postgres", ["-D", data] + settings.flatMap { ["-c", "\($0)=\($1)"] },
                environment: environment)
            let isReady = await eventually {
                let state = state
                return (Self.isReady(state) && state.first != former) || child.poll() != nil
            }
            return isReady && child.poll() == nil
        }
        guard isStarted else { throw TestingError("the server does not start: \(log)") }
    }

    /// The lines of the file that says how far it is; the first is its process. See
    /// <https://www.postgresql.org/docs/current/storage-file-layout.html>.
    private var state: [Substring] {
        (LinuxFile.text(data + "/postmaster.pid") ?? "").split(
            separator: "\n", omittingEmptySubsequences: false)
    }

    private static func isReady(_ state: [Substring]) -> Bool {
        guard state.count > 7 else { return false }
        return state[7].hasPrefix("ready") || state[7].hasPrefix("standby")
    }

    /// The last lines that it has logged.
    package var log: String { String((LinuxFile.text(directory + "/log") ?? "").suffix(4000)) }

    /// Sends a signal to its first process: SIGINT ends it in order, SIGQUIT at once, SIGKILL
    /// like a crash.
    package func kill(_ signal: Int32) {
        // Its number is only known to be its own for as long as the supervisor waits for it.
        let isRunning = run.withLock { $0?.supervisor.poll() == nil }
        if isRunning, let pid = state.first.flatMap({ Int32($0) }) { Glibc.kill(pid, signal) }
    }

    /// Ends it with a signal, and returns when it has ended.
    package func stop(_ signal: Int32 = SIGINT) async throws {
        kill(signal)
        guard let supervisor = run.withLock({ $0?.supervisor }),
            await supervisor.exit(within: .seconds(60)) != nil
        else { throw TestingError("the server does not end: \(log)") }
    }

    // MARK: Using it

    /// The connection string of its database.
    package var location: String { location(database: "postgres") }

    func location(database: String?) -> String {
        "host=\(directory) port=\(port ?? 5432) user=alertq"
            + (database.map { " dbname=\($0)" } ?? "")
    }

    /// The same as a URI, to which parameters can be added.
    package var uri: String {
        "postgresql:///postgres?host=\(directory)&port=\(port ?? 5432)&user=alertq"
    }

    /// The same, through its port on 127.0.0.1.
    package func location(port: UInt16) -> String {
        "host=127.0.0.1 port=\(port) user=alertq dbname=postgres sslmode=disable gssencmode=disable"
    }

    /// The path of its socket.
    package var socket: String { "\(directory)/.s.PGSQL.\(port ?? 5432)" }

    /// Runs statements as an account of the server.
    package func execute(_ script: String, as user: String = "alertq") throws {
        try Connection(location, overriding: ["user": user]).execute(script)
    }

    /// Connects to a new schema, which is the only one that unqualified names mean.
    package func connect() throws -> Connection {
        let schema = "t_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let connection = try Connection(location)
        try connection.execute("CREATE SCHEMA \(schema); SET search_path = \(schema)")
        return connection
    }

    /// Makes a database; returns its URI.
    ///
    /// - Parameter template: The database of which it is a copy, which nobody may use meanwhile.
    package func makeDatabase(from template: String = "template1") throws -> String {
        let name = "d_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let other = template == "postgres" ? "template1" : "postgres"
        try Connection(location(database: other)).execute(
            "CREATE DATABASE \(name) TEMPLATE \(template)")
        return uri.replacing("/postgres?", with: "/\(name)?")
    }

    /// Ends a standby's recovery, so that it may be written; it returns when it may.
    package func promote() throws {
        let connection = try Connection(
            location, overriding: ["target_session_attrs": "any"])
        try connection.run("SELECT pg_promote(true, 60)")
    }

    /// A port that nothing listens on.
    package static func freePort() throws -> UInt16 {
        try LocalSocket.listening().port
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that need a server.
    package static var needsServer: Self {
        .enabled(if: PostgreSQLServer.isTried, "no server of PostgreSQL is installed")
    }

    /// For tests that need a pooler.
    package static var needsPooler: Self {
        .enabled(if: Pooler.isTried, "pgbouncer is not installed")
    }
}
