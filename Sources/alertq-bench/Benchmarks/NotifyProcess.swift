import AlertQueue
import Glibc
import Linux
import SQLiteStore

/// `alertq notify` as a process, from its start to its end, compared with the `sqlite3` shell.
enum NotifyProcess: Benchmark {
    static let name = "notify"
    static let abstract = "alertq notify as a process, compared with the sqlite3 shell"

    static func run(_ plan: Plan) async throws -> [Row] {
        // The syncs of other programs can't be slowed down.
        guard plan.syncDelay == 0 else { return [] }
        let program = try plan.program ?? inSameDirectory()
        let workspace = try Workspace()
        let (queue, plain) = (workspace.path("queue.db"), workspace.path("plain.db"))
        for path in [queue, plain] {
            let store = try await SQLiteAlertStore.open(path: path)
            _ = try await store.enqueue(.sample, by: .bench)
            await store.close()
        }
        var (ours, shells, empties): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<plan.rounds * plan.count(100) {
            ours.append(
                try time(program, ["notify", "Backup done", "--database", queue]))
            shells.append(try time("sqlite3", [plain, insertion]))
            empties.append(try time("true", []))
        }
        return [
            .time(
                name, "spawn to exit", ours: ours.median, plain: shells.median, unit: "µs",
                atMost: 1.3),
            .reference(name, "true(1), which does nothing", empties.median, unit: "µs"),
        ]
    }

    /// The same pragmas, and one row.
    private static let insertion = """
        PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
        INSERT INTO alerts (source_id, pid, host, style, priority, title, buttons, info, salt,
            boot, asked_ms, asked_boot_ms)
        VALUES (1, 1, 'host', 'alert', 1, 'Backup done', '[]', '{}', zeroblob(16), 'boot', 1, 1);
        """

    private static func time(_ program: String, _ arguments: [String]) throws -> Double {
        let start = ContinuousClock.now
        let child = try BenchmarkChild(program, arguments)
        let status = child.wait()
        let time = (ContinuousClock.now - start).inMicroseconds
        guard status == 0 else { throw BenchmarkError("\(program) failed, status \(status)") }
        return time
    }

    /// The command that was built together with this program.
    private static func inSameDirectory() throws -> String {
        let own = LinuxFile.link("/proc/self/exe") ?? ""
        let program = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/alertq"
        guard access(program, X_OK) == 0 else {
            throw BenchmarkError(
                "\(program) does not exist; build it, or name one with --program")
        }
        return program
    }
}
