import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Collecting by id", .inParallel)
struct CollectByIDTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("An id finds the response to an alert without a key")
    func id() async throws {
        #expect(try await queue.run("ask", "Q?", "--detach").code == 0)
        let waiting = try await queue.run("collect", "--id", "1")
        #expect(waiting.code == 15 && waiting.errors.contains("alert 1 still waits"))
        #expect(try await queue.run("answer", "1", "Cancel").code == 0)
        for _ in 1...2 {
            let collected = try await queue.run("collect", "--id", "1")
            #expect(collected.code == 10 && collected.output == "Cancel\n", "\(collected)")
        }
        #expect(try await queue.objects("history", "--uncollected").isEmpty)
        let missing = try await queue.run("collect", "--id", "2")
        #expect(missing.code == 66 && missing.errors.contains("there is no alert 2"))
    }

    @Test(
        "A key and an id, or neither, are refused",
        arguments: [
            (["k", "--id", "1"], "can't be combined"), ([], "expected KEY, or --id ID"),
            (["--id", "1", "--source", "s"], "can't be combined with --id"),
        ])
    func refused(words: [String], reason: String) async throws {
        let finished = try await queue.start(["collect"] + words).finish()
        #expect(finished.code == 64 && finished.errors.contains(reason), "\(finished)")
    }
}
