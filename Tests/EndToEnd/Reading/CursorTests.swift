import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Cursors", .inParallel)
struct CursorTests {
    let queue: CommandLineQueue
    let elsewhere: CommandLineQueue
    private var file: String { elsewhere.directory + "/backup.db" }

    init() throws {
        queue = try CommandLineQueue()
        elsewhere = try CommandLineQueue()
    }

    private func ask(_ title: String) async throws {
        #expect(try await queue.run("ask", title, "-b", "yes", "--detach").code == 0)
    }

    @Test("A cursor from before a restore no longer fits the log, but a bare number does")
    func cursor() async throws {
        for title in ["One?", "Two?", "Three?", "Four?"] {
            if title == "Three?" { #expect(try await queue.run("backup", file).code == 0) }
            try await ask(title)
        }
        let cursors = try await queue.objects("audit", "list").map { $0["cursor"] as? String ?? "" }
        #expect(try await queue.run("restore", file, "--force").code == 0)
        for _ in 0..<3 { try await ask("More?") }
        // The entries of the backup are still there; entry 4 is another one now.
        for verb in [["audit", "list"], ["audit", "export"]] {
            let kept = try await queue.start(verb + ["--after", cursors[1]]).finish()
            #expect(kept.code == 0 && kept.output.split(separator: "\n").count >= 4, "\(kept)")
            let gone = try await queue.start(verb + ["--after", cursors[3]]).finish()
            #expect(gone.code == 66 && gone.output.isEmpty, "\(gone)")
            #expect(gone.errors.contains("restored from a backup"))
            #expect(try await queue.start(verb + ["--after", "4"]).finish().code == 0)
        }
        let watch = try await queue.run("watch", "--after", cursors[3])
        #expect(watch.code == 66, "\(watch)")
        let fresh = elsewhere.directory + "/fresh"
        let refused = try await queue.run(
            "watch", "--event", "asked", "--cursor", fresh, "--exec", "true", "--database", file)
        #expect(refused.code == 65 && refused.errors.contains("is a backup"), "\(refused)")
        #expect(access(fresh, F_OK) != 0, "a cursor is left where nothing was done")
        let wrong = try await queue.run("watch", "--after", "4:zz")
        #expect(wrong.code == 64 && wrong.errors.contains("nor a cursor"), "\(wrong)")
    }
}
