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
        // Nobody asks anything in a queue whose name was mistyped.
        #expect(try await queue.start(strict).finish().code == 66)
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
        arguments: [
            ["--waiting", "1h"], ["--strict", "--setup-system"], ["--strict", "--reindex"],
        ])
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

    /// The advice of the first problem that a check as another account finds.
    private func advice(_ path: String, as account: LinuxAccount? = nil) async throws -> String {
        let told = try await queue.start(
            ["doctor", "--json", "--database", path], as: account
        ).finish()
        #expect(told.code == 77, "\(told)")
        let problem = told.output.split(separator: "\n").first { $0.contains("\"ok\":false") }
        let object = try JSONSerialization.jsonObject(with: Data((problem ?? "{}").utf8))
        return (object as? [String: Any])?["advice"] as? String ?? ""
    }

    @Test("Where a file may not be used, the advice is what is needed there", isRoot)
    func accessAdvice() async throws {
        try await ask()
        let path = queue.path
        let ana = LinuxAccount(uid: 60_001, gid: 60_001)
        #expect(chmod(queue.directory, 0o755) == 0)
        let other = try await advice(path, as: ana)
        #expect(other.hasPrefix("use the account root, or another queue"), "\(other)")
        // Her own queue, which she may not write.
        let home = try CommandLineQueue(mode: 0o755)
        #expect(chown(home.directory, ana.uid, ana.gid) == 0)
        let asked = try await home.start(["ask", "Q?", "--detach"], as: ana).finish()
        #expect(asked.code == 0, "\(asked)")
        #expect(chmod(home.path, 0o400) == 0)
        let own = try await advice(home.path, as: ana)
        #expect(own == "it is yours: chmod u+rw \(home.path)", "\(own)")
        // A second name in another directory.
        let elsewhere = try TemporaryDirectory("alertq-name-")
        #expect(link(path, elsewhere.path + "/name") == 0)
        let named = try await advice(path)
        #expect(named.contains("find / -xdev -samefile \(path)"), "\(named)")
        #expect(unlink(elsewhere.path + "/name") == 0)
        // A link in a directory that others may write.
        let shared = try TemporaryDirectory("alertq-shared-")
        #expect(chmod(shared.path, 0o1777) == 0)
        let link = shared.path + "/q.db"
        #expect(symlink(path, link) == 0)
        let led = try await advice(link)
        #expect(led == "name the file that it leads to: realpath \(link)", "\(led)")
        // A database that somebody else has put there.
        #expect(unlink(link) == 0)
        try FileManager.default.copyItem(atPath: path, toPath: link)
        #expect(chown(link, ana.uid, ana.gid) == 0)
        let foreign = try await advice(link)
        #expect(foreign.contains("chown --reference=\(shared.path) \(link)"), "\(foreign)")
    }

    private static let isRoot = ConditionTrait.enabled(if: geteuid() == 0, "needs root")
}
