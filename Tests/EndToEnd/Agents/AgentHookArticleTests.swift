import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// The configurations of the article about permission prompts, run as the agents run them.
@Suite("Configurations of hooks", .inParallel)
struct AgentHookArticleTests {
    let queue: CommandLineQueue
    let terminal: PseudoTerminal

    init() throws { (queue, terminal) = (try CommandLineQueue(), try PseudoTerminal()) }

    /// The command of each configuration, and the documented request for its event.
    private static let commands: [(command: String, sample: String)] = {
        let blocks = try? CodeBlock.all("json", in: CodeBlock.articles + "PermissionHooks.md")
        return (blocks ?? []).compactMap { block in
            let object = try? JSONSerialization.jsonObject(with: Data(block.text.utf8))
            let events = (object as? [String: Any])?["hooks"] as? [String: Any]
            let group = (events?["PermissionRequest"] as? [[String: Any]])?.first
            let hook = (group?["hooks"] as? [[String: Any]])?.first
            guard let command = hook?["command"] as? String, hook?["timeout"] as? Int == 600,
                hook?["type"] as? String == "command",
                let agent = command.firstMatch(of: /alertq hook ([a-z]+)/)?.1
            else { return nil }
            return (command, "\(agent)-permission-request")
        }
    }()

    /// Starts a command as an agent does: with a shell.
    private func start(_ command: String, _ sample: String, path: String) throws -> Child {
        let input = try Descriptor.holding(HookSample.bytes(sample), name: "request")
        return try Child(
            "/bin/sh", ["-c", command],
            environment: ["ALERTQ_DATABASE": queue.path, "PATH": path], input: input.raw)
    }

    /// A directory in which `alertq` is found.
    private func installed() throws -> String {
        let folder = queue.directory + "/bin"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        symlink(CommandLineQueue.program, folder + "/alertq")
        return folder + ":" + CodeBlock.path
    }

    @Test("The article configures both agents")
    func both() {
        #expect(
            Self.commands.map(\.sample) == [
                "claude-permission-request", "codex-permission-request",
            ]
        )
    }

    @Test("A configured hook puts the question, and returns a person's answer", arguments: commands)
    func answered(command: String, sample: String) async throws {
        let screen = try await queue.screen(on: terminal)
        let hook = try start(command, sample, path: installed())
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "1", "allow")
        screen.kill(SIGTERM)
        let finished = await hook.finish()
        #expect(finished.code == 0, "\(finished)")
        #expect(finished.output.contains(#""behavior":"allow""#), "\(finished)")
    }

    @Test("A configured hook that is killed or not installed blocks", arguments: commands)
    func failed(command: String, sample: String) async throws {
        let missing = try await start(command, sample, path: "/nowhere").finish()
        #expect(missing.code == 2 && !missing.errors.isEmpty, "\(missing)")
        let screen = try await queue.screen(on: terminal)
        let hook = try start(command, sample, path: installed())
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        for process in queue.processes where ![hook.pid, screen.pid].contains(process) {
            kill(process, SIGKILL)
        }
        let finished = await hook.finish()
        #expect(finished.code == 2 && finished.output.isEmpty, "\(finished)")
        #expect(sample.hasPrefix("claude") || !finished.errors.isEmpty, "\(finished)")
    }
}
