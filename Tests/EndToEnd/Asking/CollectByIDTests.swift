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

    @Test("The number of an alert is not its key, and the error names --id")
    func number() async throws {
        #expect(try await queue.run("ask", "Q?", "--detach").output == "1\n")
        let missing = try await queue.run("collect", "1")
        #expect(missing.code == 66 && missing.errors.contains("use --id 1"), "\(missing)")
        #expect(try await queue.run("ask", "R?", "--key", "1", "--detach").output == "2\n")
        #expect(try await queue.run("answer", "2", "OK").code == 0)
        let collected = try await queue.run("collect", "1", "--json")
        #expect(collected.code == 0 && collected.output.contains("\"id\":2,"), "\(collected)")
    }

    @Test("Several are collected in their order; the first code that isn't 0 is the exit code")
    func several() async throws {
        for key in ["a", "b", "c"] {
            #expect(try await queue.run("ask", "Q?", "--key", key, "--detach").code == 0)
        }
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.run("answer", "3", "Cancel").code == 0)
        let keys = try await queue.run("collect", "c", "b", "a", "d")
        #expect(keys.code == 10 && keys.output == "3\tCancel\n1\tOK\n", "\(keys)")
        #expect(keys.errors.contains("alert 2 still waits"))
        #expect(keys.errors.contains("has asked nothing with the key “d”"))
        let ids = try await queue.run("collect", "--id", "1", "--id", "2", "--id", "3")
        #expect(ids.code == 15 && ids.output == "1\tOK\n3\tCancel\n", "\(ids)")
        let late = try queue.start(["collect", "a", "b", "--wait-for", "1h"])
        #expect(await eventually { late.errors.text.contains("waiting") })
        #expect(try await queue.run("answer", "2", "OK").code == 0)
        let finished = await late.finish()
        #expect(finished.code == 0 && finished.output == "1\tOK\n2\tOK\n", "\(finished)")
        let brief = try await queue.run("ask", "Q?", "--key", "e", "--detach")
        #expect(brief.output == "4\n")
        let passed = try await queue.run("collect", "e", "a", "--wait-for", "10ms")
        #expect(passed.code == 15 && passed.output == "1\tOK\n", "\(passed)")
    }

    @Test(
        "A key and an id, or neither, are refused",
        arguments: [
            (["k", "--id", "1"], "can't be combined"), ([], "expected --id ID, or KEY"),
            (["k", "k"], "is given twice"), (["--id", "1", "--user", "root"], "can't be combined"),
            (["k", "--user", "no such account"], "there is no account"),
            (["--id", "1", "--source", "s"], "can't be combined with --id"),
        ])
    func refused(words: [String], reason: String) async throws {
        let finished = try await queue.start(["collect"] + words).finish()
        #expect(finished.code == 64 && finished.errors.contains(reason), "\(finished)")
    }
}
