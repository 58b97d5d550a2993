import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Doctor", .inParallel)
struct DoctorTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func ask(_ options: String...) async throws {
        let asked = try await queue.start(["ask", "Prune?", "--detach"] + options).finish()
        #expect(asked.code == 0, "\(asked)")
    }

    @Test("--strict fails with 1 if something has waited too long and no process shows alerts")
    func strict() async throws {
        let strict = ["doctor", "--strict", "--waiting", "1s"]
        #expect(try await queue.start(strict).finish().code == 0)
        try await ask()
        #expect(try await queue.run("doctor", "--strict").code == 0)
        #expect(try await eventually { try await queue.start(strict).finish().code == 1 })
        let told = try await queue.start(strict).finish()
        let problem = "problem  presenter: no process shows alerts, and alert 1 has waited for "
        #expect(told.output.contains(problem), "\(told)")
        #expect(told.output.contains("alertq present\n"), "\(told)")
        #expect(try await queue.run("doctor").code == 0)
        let terminal = try PseudoTerminal()
        let present = try queue.start(["present"], on: terminal)
        #expect(try await eventually { try await queue.start(strict).finish().code == 0 })
        present.kill(SIGTERM)
        _ = await present.exit()
        #expect(try await queue.run("snooze", "1", "--for", "1h").code == 0)
        #expect(try await queue.start(strict).finish().code == 0)
        #expect(try await queue.run("withdraw", "1").code == 0)
        #expect(try await queue.start(strict).finish().code == 0)
    }

    @Test(
        "--waiting needs --strict, and --strict can't be combined with another task",
        arguments: [["--waiting", "1h"], ["--strict", "--repair"], ["--strict", "--reindex"]])
    func refused(options: [String]) async throws {
        #expect(try await queue.start(["doctor"] + options).finish().code == 64)
    }

    @Test("A read-only file system is one problem, with how to mount it writable", isRoot)
    func readOnly() async throws {
        try await ask()
        let script = """
            mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" || exit 99
            exec "$1" doctor --json --database "$0/queue.db"
            """
        let told = try await Child(
            "unshare", ["-m", "sh", "-c", script, queue.directory, CommandLineQueue.program]
        ).finish()
        let problems = told.output.split(separator: "\n").filter { $0.contains("\"ok\":false") }
        #expect(told.code == 74 && problems.count == 1, "\(told)")
        #expect(problems.first?.contains("mounted read-only") == true, "\(told)")
        #expect(problems.first?.contains("mount -o remount,rw") == true, "\(told)")
    }

    @Test("Each problem comes with advice")
    func advice() async throws {
        let files = FileManager.default
        let garbage = queue.directory + "/garbage.db"
        try Data("garbage".utf8).write(to: URL(filePath: garbage))
        let folder = queue.directory + "/folder.db"
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try await ask()
        let cut = queue.directory + "/cut.db"
        try files.copyItem(atPath: queue.path, toPath: cut)
        #expect(truncate(cut, 10_000) == 0)
        for path in [garbage, folder, cut, queue.directory + "/none/queue.db"] {
            let told = try await queue.run("doctor", "--json", "--database", path)
            let problems = told.output.split(separator: "\n").filter { $0.contains("\"ok\":false") }
            #expect(told.code != 0 && !problems.isEmpty, "\(path)\n\(told)")
            #expect(!problems.contains { $0.contains("\"advice\":null") }, "\(path)\n\(told)")
        }
    }

    private static let isRoot = ConditionTrait.enabled(if: geteuid() == 0, "needs root")
}
