import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Read-only file system", .inParallel)
struct ReadOnlyTests {
    /// Whether this process may mount in a namespace of its own.
    static let isAllowed: Bool =
        (try? Child("unshare", ["-m", "mount", "--bind", "/tmp", "/tmp"]))?.wait() == 0
    private static let why: Comment = "only root can mount"

    let queue: CommandLineQueue
    let elsewhere: CommandLineQueue

    init() throws {
        queue = try CommandLineQueue()
        elsewhere = try CommandLineQueue()
    }

    /// Runs the command where the queue's directory is mounted read-only.
    private func run(_ words: String...) async throws -> Finished {
        let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
        return try await queue.start(
            words, under: ["unshare", "-m", "sh", "-c", script, queue.directory],
            environment: ["TMPDIR": elsewhere.directory]
        ).finish()
    }

    private func fill() async throws -> String {
        for title in ["Prune?", "Reboot?"] {
            let asked = try await queue.run("ask", title, "-b", "yes", "--cancel", "no", "--detach")
            #expect(asked.code == 0, "\(asked)")
        }
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        return String(try await queue.run("audit", "head").output.dropLast())
    }

    @Test(
        "A verb that changes nothing reads the queue, with and without SQLite's shared memory",
        .enabled(if: isAllowed, why), arguments: [false, true])
    func reads(isLeft: Bool) async throws {
        let head = try await fill()
        if isLeft { try FileManager.default.removeItem(atPath: queue.path + "-shm") }
        let before = try FileManager.default.contentsOfDirectory(atPath: queue.directory).sorted()
        let verified = try await run("audit", "verify", "--head", head)
        #expect(verified.code == 0 && verified.output == "3 entries verify\n", "\(verified)")
        #expect(verified.errors.isEmpty)
        #expect(try await run("audit", "head").output == head + "\n")
        #expect(try await run("list").output.contains("Reboot?"))
        #expect(try await run("show", "1").output.contains("answered “yes”"))
        #expect(try await run("history", "--json").output.contains(#""outcome":"answered""#))
        #expect(try await run("stats").code == 0)
        #expect(try await run("audit", "export").output.split(separator: "\n").count == 3)
        let after = try FileManager.default.contentsOfDirectory(atPath: queue.directory).sorted()
        #expect(after == before)
        let left = try FileManager.default.contentsOfDirectory(atPath: elsewhere.directory)
        #expect(left.isEmpty, "\(left)")
    }

    @Test(
        "Where a killed process has left a log, and its shared memory is gone, a copy is read",
        .enabled(if: isAllowed, why), arguments: [false, true])
    func copies(isLeft: Bool) async throws {
        _ = try await fill()
        try await queue.askAndKill("Killed?")
        if isLeft { try FileManager.default.removeItem(atPath: queue.path + "-shm") }
        let listed = try await run("list")
        #expect(listed.output.contains("Killed?"), "\(listed)")
        #expect(listed.errors.contains("a copy of it is read") == isLeft, "\(listed)")
        #expect(try await run("audit", "verify").output == "4 entries verify\n")
        let left = try FileManager.default.contentsOfDirectory(atPath: elsewhere.directory)
        #expect(left.isEmpty, "\(left)")
    }

    @Test("A backup without a log is read as it is", .enabled(if: isAllowed, why))
    func backup() async throws {
        _ = try await fill()
        let file = queue.directory + "/copy.db"
        #expect(try await queue.run("backup", file).code == 0)
        let verified = try await run("audit", "verify", "--database", file)
        #expect(verified.output == "3 entries verify\n", "\(verified)")
    }

    @Test(
        "On a read-only file system damage is found too, and no answer is stored",
        .enabled(if: isAllowed, why))
    func refused() async throws {
        _ = try await fill()
        let answered = try await run("answer", "2", "yes")
        #expect(answered.code == 74 && answered.errors.contains("Read-only file system"))
        let head = "3:" + String(repeating: "0", count: 64)
        #expect(try await run("audit", "verify", "--head", head).code == 65)
        let other = queue.directory + "/other.db"
        try Data("no database".utf8).write(to: URL(filePath: other))
        let verified = try await run("audit", "verify", "--database", other)
        #expect(verified.code == 74 && verified.errors.contains("not an SQLite database"))
        #expect(try await run("audit", "verify", "--database", other + "x").code == 66)
    }
}
