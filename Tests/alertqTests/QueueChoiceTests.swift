import AlertQueue
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import alertq

@Suite("Missing queues", .inParallel)
final class QueueChoiceTests {
    private let directory = "/tmp/alertq-choice-\(UUID())"
    private var path: String { directory + "/queue.db" }

    init() { mkdir(directory, 0o700) }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test(
        "A verb that needs a queue says that there is none, and creates none",
        arguments: [
            ["list"], ["list", "--count"], ["history"], ["show", "1"], ["audit", "list"],
            ["audit", "head"], ["audit", "verify"], ["answer", "1", "OK"], ["withdraw", "1"],
            ["cancel", "1"], ["snooze", "1"],
        ])
    func missing(words: [String]) async throws {
        let test = TestContext()
        let code = try await Program.run(words + ["--database", path], in: test.context())
        #expect(code == .notFound)
        #expect(test.errors.text.hasSuffix(": there is no queue at \(path)\n"))
        #expect(test.output.text.isEmpty && access(path, F_OK) != 0)
    }

    @Test("doctor distinguishes a missing file from a missing directory")
    func doctor() async throws {
        let first = TestContext()
        #expect(try await first.run("doctor", "--database", path) == .notFound)
        #expect(first.output.text.contains("there is no queue at \(path)"))
        #expect(first.output.text.contains("asking makes one there"))
        let second = TestContext()
        let lost = directory + "/lost/queue.db"
        #expect(try await second.run("doctor", "--database", lost) == .notFound)
        #expect(second.output.text.contains("the directory \(directory)/lost does not exist"))
        #expect(second.output.text.contains("mkdir -p -m 700 \(directory)/lost"))
    }

    @Test("Asking where the directory is missing says how to create it")
    func advice() async throws {
        let test = TestContext()
        let lost = directory + "/lost/queue.db"
        #expect(try await test.run("notify", "Done", "--database", lost) == .inputOutput)
        #expect(test.errors.text.contains("; to create it: mkdir -p -m 700 \(directory)/lost\n"))
        let system = QueueLocation.systemPath
        #expect(
            QueuePresence.noDirectory("/var/lib/alertq").advice(path: system)
                == "as root: alertq doctor --setup-system")
        let closed = QueuePresence.closed("/var/lib/alertq").advice(path: system)
        #expect(closed?.hasPrefix("as root: usermod -aG alertq ") == true)
    }

    @Test("An empty queue prints nothing, and says so on a terminal")
    func empty() async throws {
        #expect(try await TestContext().run("notify", "Done", "--database", path) == .done)
        #expect(try await TestContext().run("withdraw", "1", "--database", path) == .done)
        let test = TestContext()
        let words = ["list", "--database", path]
        #expect(try await Program.run(words, in: test.context()) == .done)
        #expect(test.output.text.isEmpty && test.errors.text.isEmpty)
        #expect(try await Program.run(words, in: test.context(columns: 80)) == .done)
        #expect(test.output.text.isEmpty && test.errors.text == "alertq: nothing waits\n")
    }

    @Test("Asking again with the key of a withdrawn alert says how that alert ended")
    func withdrawn() async throws {
        let ask = ["ask", "Prune?", "--key=k", "--database", path]
        let first = try await Program.run(ask + ["--detach"], in: TestContext().context())
        #expect(first == .done)
        #expect(try await TestContext().run("withdraw", "1", "--database", path) == .done)
        let test = TestContext()
        #expect(try await Program.run(ask, in: test.context()) == .withdrawn)
        #expect(test.errors.text.hasPrefix("alertq: alert 1: withdrawn by "))
        #expect(test.output.text.isEmpty)
    }
}
