import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// A queue is replaced by a backup while a process presents it.
@Suite("Presenters of a replaced queue", .inParallel)
struct ReplacedQueueTests {
    private let queue: CommandLineQueue
    private let elsewhere: CommandLineQueue
    private var backup: String { elsewhere.directory + "/backup.db" }

    init() throws {
        queue = try CommandLineQueue()
        elsewhere = try CommandLineQueue()
    }

    @Test(
        "A presenter of a queue that was replaced ends with an error, and the next one shows it",
        arguments: [(["present"], true), (["present"], false), (["present", "--once"], true)])
    func restored(words: [String], isShowing: Bool) async throws {
        #expect(try await queue.run("notify", "Earlier").code == 0)
        #expect(try await queue.run("withdraw", "1").code == 0)
        if isShowing { #expect(try await queue.run("ask", "One?", "--detach").code == 0) }
        #expect(try await queue.run("backup", backup).code == 0)
        // A backup that has all of the queue is gone on with.
        #expect(try await queue.run("notify", "Not in the backup").code == 0)
        #expect(try await queue.run("withdraw", isShowing ? "3" : "2").code == 0)
        let (first, second) = (try PseudoTerminal(), try PseudoTerminal())
        let presenter = try queue.start(words, on: first)
        #expect(await first.shows(isShowing ? "One?" : "showing alerts"))
        #expect(try await queue.run("restore", "--force", backup).code == 0)
        #expect(try await queue.run("ask", "Newer?", "--detach").code == 0)
        #expect(await presenter.exit() == 74)
        #expect(first.text.contains("no longer the queue that was opened"), "\(first.text)")
        #expect(first.isInOrder)
        let next = try queue.start(["present"], on: second)
        #expect(await second.shows(isShowing ? "One?" : "Newer?"))
        next.kill(SIGTERM)
        #expect(await next.exit() == 128 + SIGTERM)
    }
}
