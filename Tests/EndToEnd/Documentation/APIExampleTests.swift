import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The shell's examples of the article about the API, run with curl.
@Suite(
    "Examples of the API", .inParallel, .within(.seconds(120)), .needsHTTP,
    .enabled(if: access("/usr/bin/curl", X_OK) == 0, "curl is not installed"))
struct APIExampleTests {
    private let queue: CommandLineQueue
    private let blocks: [String]

    init() throws {
        queue = try CommandLineQueue()
        blocks = try CodeBlock.all("shell", in: CodeBlock.articles + "UsingTheAPI.md").map(\.text)
    }

    /// Starts a shell with the first block's function.
    private func start(_ blocks: [String]) throws -> Child {
        let script = (self.blocks.prefix(1) + blocks).joined(separator: "\n")
        return try Child(
            "bash", ["-c", script], environment: ["XDG_RUNTIME_DIR": queue.directory])
    }

    @Test("They ask, wait for the word, and act on it, also while the service is away")
    func asking() async throws {
        try #require(blocks.count == 4)
        let service = try await CommandLineQueue.Service(of: queue, in: "alertq")
        let shell = try start(Array(blocks[1...2]))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(try await eventually { try await queue.objects("list").first?["id"] as? Int == 2 })
        service.process.kill(SIGKILL)
        _ = await service.process.exit()
        let next = try await CommandLineQueue.Service(of: queue, in: "alertq")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        let finished = await shell.finish()
        #expect(finished.code == 0, "\(finished)")
        #expect(finished.output.contains("}\nno\npruning\n"), "\(finished)")
        let entries = try start([blocks[3]])
        #expect(await eventually { entries.output.text.contains("event: asked") })
        // The stream of a service that ends does, too.
        next.process.kill(SIGTERM)
        #expect(await entries.exit() != nil)
    }

    @Test("What is refused ends the script's loop")
    func refused() async throws {
        let service = try await CommandLineQueue.Service(of: queue, in: "alertq")
        let other = try await queue.run(
            "ask", "Other?", "--key", "prune-2", "--source", "api", "--detach", "-b", "yes")
        #expect(other.code == 0)
        let finished = await (try start([blocks[2]])).finish()
        #expect(finished.code != 0 && finished.errors.contains("409"), "\(finished)")
        #expect(!finished.output.contains("pruning"))
        _ = service
    }
}
