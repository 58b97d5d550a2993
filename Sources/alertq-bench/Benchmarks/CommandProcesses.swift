import AlertQueue
import Glibc
import Linux
import SQLiteStore

/// Verbs as processes, from their start to their end, each compared with the `sqlite3` shell, which
/// stores or reads about the same.
enum CommandProcesses: Benchmark {
    static let name = "command"
    static let abstract = "verbs as processes, compared with the sqlite3 shell"

    static func run(_ plan: Plan) async throws -> [Row] {
        // The syncs of other programs can't be slowed down.
        guard plan.syncDelay == 0 else { return [] }
        let program = try plan.program ?? inSameDirectory()
        let workspace = try Workspace()
        // Notices stay where they are, so that what is listed keeps its length.
        let queues = (main: workspace.path("queue.db"), notices: workspace.path("notices.db"))
        let plain = (main: workspace.path("plain.db"), notices: workspace.path("plain-notices.db"))
        for path in [queues.main, queues.notices, plain.main, plain.notices] {
            let store = try await SQLiteAlertStore.open(path: path)
            _ = try await store.enqueue(.sample, by: .bench)
            await store.close()
        }
        var times: [String: (ours: [Double], shells: [Double])] = [:]
        var empties: [Double] = []
        // The first alert waits all the time; each other one is resolved before the next.
        for id in 2..<(2 + plan.rounds * plan.count(100)) {
            for (words, sql) in steps(id) {
                let isNotice = words[0] == "notify"
                let queue = isNotice ? queues.notices : queues.main
                let file = isNotice ? plain.notices : plain.main
                let ours = try time(program, words + ["--database", queue])
                let shell = try time("sqlite3", [file, pragmas + sql])
                times[words[0], default: ([], [])].ours.append(ours)
                times[words[0], default: ([], [])].shells.append(shell)
            }
            empties.append(try time("true", []))
        }
        return steps(0).compactMap { words, _ in
            times[words[0]].map { times in
                .time(
                    name, "\(words[0]), spawn to exit", ours: times.ours.median,
                    plain: times.shells.median, unit: "µs", atMost: 1.5)
            }
        } + [.reference(name, "true(1), which does nothing", empties.median, unit: "µs")]
    }

    /// `notify`, the verbs of a round trip and `list`, with what the shell does instead.
    private static func steps(_ id: Int) -> [(words: [String], sql: String)] {
        [
            (["notify", "Backup done"], insertion),
            (["ask", "Reboot?", "-b", "yes", "--cancel", "no", "--detach"], insertion),
            (
                ["list"],
                """
                SELECT alerts.id, asked_ms, name, priority, buttons, title
                FROM alerts JOIN sources ON sources.id = source_id WHERE outcome IS NULL LIMIT 100
                """
            ),
            (
                ["answer", "\(id)", "yes"],
                """
                UPDATE alerts SET outcome = 'answered', button_index = 0, resolved_by = 'person',
                    handled = 0, responder = '0', responder_name = 'root', via = 'bench',
                    responder_host = 'host', responder_pid = 1, resolved_ms = 1, resolved_seq = 1
                WHERE id = \(id)
                """
            ),
            (
                ["collect", "--id", "\(id)"],
                "UPDATE alerts SET collected_ms = 1 WHERE id = \(id)"
            ),
        ]
    }

    private static let pragmas = "PRAGMA synchronous = FULL; "

    private static let insertion = """
        INSERT INTO alerts (source_id, pid, host, style, priority, title, buttons, info, salt,
            boot, asked_ms, asked_boot_ms, queued_seq)
        VALUES (1, 1, 'host', 'alert', 1, 'Reboot?', '[]', '{}', zeroblob(16), 'boot', 1, 1, 1)
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
