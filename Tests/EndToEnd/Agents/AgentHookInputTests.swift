import Foundation
import Linux
import ProcessTesting
import TestSupport
import Testing

/// What a hook of a coding agent reads and shows: all of a request, or nothing.
@Suite("Requests of coding agents", .inParallel)
struct AgentHookInputTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// A request that can't be read, and what the denial says.
    struct Malformed: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: @Sendable () throws -> [UInt8]
        let says: String
        var testDescription: String { name }

        init(_ name: String, _ says: String, _ bytes: @escaping @Sendable () throws -> [UInt8]) {
            (self.name, self.says, self.bytes) = (name, says, bytes)
        }

        init(_ text: String, _ says: String) { self.init(text, says) { Array(text.utf8) } }

        /// The documented request with other members.
        init(_ members: [String: (any Sendable)?], _ says: String) {
            self.init("\(members)", says) {
                try HookSample.bytes("claude-pre-tool-use", with: members)
            }
        }
    }

    static let refused = [
        Malformed("", "it is empty"),
        Malformed(" \n", "it is empty"),
        Malformed("{", "it ends too early"),
        Malformed("[]", "it is not an object"),
        Malformed("null", "it is not an object"),
        Malformed("yes", "there is no value"),
        Malformed("{}", "“hook_event_name” is missing"),
        Malformed("{} {}", "something follows the value"),
        Malformed(#"{"cwd":"/","cwd":"/tmp"}"#, "two members “cwd”"),
        Malformed(#"{"cwd":"\ud800"}"#, "half of a surrogate pair"),
        Malformed("{\"cwd\":\"a\u{1B}\"}", "a control character"),
        Malformed("not UTF-8", "a string is not valid UTF-8") {
            Array(#"{"cwd":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        },
        Malformed("truncated", "it ends too early") {
            try HookSample.bytes("claude-pre-tool-use").dropLast(20)
        },
        Malformed("deep", "nested deeper") {
            [UInt8](repeating: UInt8(ascii: "["), count: 500_000)
        },
        Malformed("huge", "more than 1048576 bytes") {
            try HookSample.bytes(
                "claude-write", with: ["tool_input": String(repeating: "x", count: 3_000_000)])
        },
        Malformed("long", "message has") {
            try HookSample.bytes(
                "claude-write", with: ["tool_input": String(repeating: "x", count: 70_000)])
        },
        Malformed("NUL", "message contains a NUL character") {
            try HookSample.bytes(
                "claude-pre-tool-use", with: ["tool_input": ["command": "ls\0rm"]])
        },
        Malformed(["hook_event_name": "PostToolUse"], "its event is “PostToolUse”"),
        Malformed(["hook_event_name": 7], "“hook_event_name” is not a string"),
        Malformed(["session_id": nil], "“session_id” is missing"),
        Malformed(["session_id": ["a"]], "“session_id” is not a string"),
        Malformed(["cwd": ""], "“cwd” is empty"),
        Malformed(["tool_name": NSNull()], "“tool_name” is missing"),
        Malformed(["tool_name": String(repeating: "x", count: 129)], "more than 128 bytes"),
        Malformed(["tool_input": nil], "“tool_input” is missing"),
        Malformed(["tool_use_id": 1], "“tool_use_id” is not a string"),
        Malformed(["permission_mode": true], "“permission_mode” is not a string"),
    ]

    @Test(
        "A request that can't be read or shown is denied, and nobody is asked",
        arguments: refused)
    func malformed(_ request: Malformed) async throws {
        for agent in ["claude", "codex"] {
            let finished = try await queue.hook(agent, request.bytes()).finish()
            #expect(finished.code == 2, "\(finished)")
            #expect(finished.errors.contains(request.says), "\(finished)")
            #expect(finished.errors.contains("nobody was asked"), "\(finished)")
            #expect(!finished.output.contains("allow"), "\(finished)")
        }
        #expect(try await queue.objects("list").isEmpty)
    }

    @Test(
        "Each documented request is denied in its own form if another member is wrong",
        arguments: HookSample.all)
    func ownForm(sample: String) async throws {
        let bytes = try HookSample.bytes(sample, with: ["cwd": 1])
        let finished = try await queue.hook(HookSample.agent(sample), bytes).finish()
        let isRequest = sample.hasSuffix("permission-request")
        #expect(
            finished.output.contains(
                isRequest ? #""behavior":"deny""# : #""permissionDecision":"deny""#))
    }

    @Test("A request that does not end is denied when the wait is over")
    func endless() async throws {
        let pipe = try Linux.Pipe()
        let finished = try await queue.hook("claude", ["--wait", "100ms"], reading: pipe).finish()
        withExtendedLifetime(pipe) {}
        #expect(finished.errors.contains("stdin has not ended"), "\(finished)")
    }

    @Test("A request that goes on for ever is denied when the wait is over")
    func flood() async throws {
        let finished = try await Child(
            "sh", ["-c", "yes | \(CommandLineQueue.program) hook claude --wait 200ms"],
            environment: ["ALERTQ_DATABASE": queue.path]
        ).finish()
        #expect(finished.code == 2 && finished.errors.contains("stdin has not"), "\(finished)")
    }

    @Test("The whole command is shown, what it hides is visible, and it ends the message")
    func hostile() async throws {
        let command = "echo hi\n\nDirectory: /tmp\u{1B}[2K\u{202E}\r\nrm -rf ~ #\u{200B}"
        let bytes = try HookSample.bytes(
            "claude-pre-tool-use",
            with: [
                "tool_input": ["command": command, "description": "a\nCommand:\nls"],
                "cwd": "/tmp\nCommand:\nls",
            ])
        let hook = try queue.hook("claude", bytes)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let record = try #require(try await queue.objects("list").first)
        let message = try #require(record["message"] as? String)
        // Nothing before the command looks like its beginning, and it is there byte by byte.
        let head = Array("\nCommand, 4 lines:\n".utf8)
        let parts = message.utf8.split(separator: head, maxSplits: 1)
        #expect(parts.count == 2 && Array(parts[1]) == Array(command.utf8), "\(message)")
        let shown = try await queue.runInTerminal("show", "1").output
        for hidden in ["\u{1B}", "\u{202E}", "\u{200B}", "\r"] {
            #expect(!shown.unicodeScalars.contains(hidden.unicodeScalars.first!), "\(shown)")
        }
        #expect(shown.contains("␛[2K⟨U+202E⟩␍") && shown.contains("#⟨U+200B⟩"), "\(shown)")
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
    }

    @Test("The input of any other tool is shown as JSON, member by member")
    func json() async throws {
        let hook = try queue.hook("codex", HookSample.bytes("codex-pre-tool-use"))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let record = try #require(try await queue.objects("list").first)
        #expect(record["title"] as? String == "Codex wants to use mcp__fs__delete_file")
        #expect(
            record["message"] as? String == """
                Tool: mcp__fs__delete_file
                Directory: /home/ana/shop
                Session: 0199a213-81a0-7800-8aa1-bbab2a035a53

                Input:
                {
                  "path": "/home/ana/shop/old.txt",
                  "retries": 3,
                  "force": true,
                  "tags": []
                }
                """)
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
    }
}
