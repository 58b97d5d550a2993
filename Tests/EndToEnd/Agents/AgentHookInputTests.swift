import Foundation
import Glibc
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
        Malformed("{}", "“hook_event_name” is missing or empty"),
        Malformed("{} {}", "something follows the value"),
        Malformed("two tools", "it has two members “tool_input”") {
            Array(#"{"tool_input":{},"#.utf8)
                + (try HookSample.bytes("claude-pre-tool-use").dropFirst())
        },
        Malformed("{\"cwd\":\"a\u{1B}\"}", "a control character"),
        Malformed("truncated", "it ends too early") {
            try HookSample.bytes("claude-pre-tool-use").dropLast(20)
        },
        Malformed("deep", "nested deeper") {
            [UInt8](repeating: UInt8(ascii: "["), count: 500_000)
        },
        Malformed("huge", "more than 16777216 bytes") {
            try HookSample.bytes(
                "claude-write", with: ["tool_input": String(repeating: "x", count: 17_000_000)])
        },
        Malformed("NUL", "message contains a NUL character") {
            try HookSample.bytes(
                "claude-pre-tool-use", with: ["tool_input": ["command": "ls\0rm"]])
        },
        Malformed(["hook_event_name": "Notification"], "its event is “Notification”"),
        Malformed(["hook_event_name": 7], "“hook_event_name” is not a string"),
        Malformed(["session_id": nil], "“session_id” is missing"),
        Malformed(["session_id": ["a"]], "“session_id” is not a string"),
        Malformed(["cwd": 1], "“cwd” is not a string"),
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

    @Test("A request is answered once it is complete, although the stream stays open")
    func keptOpen() async throws {
        let pipe = try Linux.Pipe()
        let hook = try queue.hook("claude", reading: pipe)
        #expect(pipe.writing.write(try HookSample.bytes("claude-permission-request")))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "1", "allow")
        #expect(await hook.finish().output.contains(#""allow""#))
        withExtendedLifetime(pipe) {}
    }

    /// The only alert, once a hook has asked it.
    private func asked(
        _ sample: String, _ bytes: [UInt8]
    ) async throws -> (hook: Child, title: String, message: String) {
        let hook = try queue.hook(HookSample.agent(sample), bytes)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let record = try #require(try await queue.objects("list").first)
        return (
            hook, try #require(record["title"] as? String),
            try #require(record["message"] as? String)
        )
    }

    private func asked(
        _ sample: String, tool: String, _ input: [String: any Sendable]
    ) async throws -> (title: String, message: String) {
        let bytes = try HookSample.bytes(
            sample, with: ["tool_name": tool, "tool_input": input])
        let (hook, title, message) = try await asked(sample, bytes)
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
        return (title, message)
    }

    private static let plain = #"""
        {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home","tool_name":"Bash",
        "tool_use_id":"t","tool_input":{"command":"npm test"}}
        """#

    @Test(
        "What nobody is shown is no reason to deny, and what is shown is visible",
        arguments: [
            (#"{"hook"#, #"{"x":1,"x":"\ud83d","hook"#, ""),
            (#""cwd""#, #""agent_type":"","cwd""#, "Directory: /home\n"),
            (#"{"hook"#, "\u{FEFF}" + #"{"hook"#, ""),
            ("/home", "", "Directory: not given\n"),
            ("npm test", #"npm test \ud83d"#, "\nCommand:\n" + #"npm test \ud83d"#),
            (#"{"command""#, #"{"x":1,"x":2,"command""#, #"Also: {"x":1,"x":2}"#),
        ])
    func tolerated(part: String, other: String, shown: String) async throws {
        let changed = Self.plain.replacing(part, with: other, maxReplacements: 1)
        let (hook, _, message) = try await asked("claude-plain", Array(changed.utf8))
        #expect(message.contains(shown) || shown.isEmpty, "\(message)")
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
    }

    @Test("Two commands that look the same only because of half a surrogate pair are two questions")
    func surrogates() async throws {
        for (count, half) in [#"\ud83d"#, #"\\ud83d"#].enumerated() {
            let changed = Self.plain.replacing("npm test", with: half)
            let hook = try queue.hook("claude", Array(changed.utf8))
            #expect(try await eventually { try await queue.objects("history").count == count })
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            _ = try await queue.runInTerminal("answer", "\(count + 1)", "allow")
            #expect(await hook.finish().output.contains(#""allow""#))
        }
    }

    @Test("A file to write is named in the title, and its content is shown as lines")
    func write() async throws {
        let (title, message) = try await asked(
            "claude-permission-request", tool: "Write",
            ["file_path": "/home/ana/shop/notes.txt", "content": "Tool: Read\n\tx\n"])
        #expect(title == "Claude Code wants to write notes.txt")
        #expect(
            message.hasSuffix(
                """
                \nFile: /home/ana/shop/notes.txt

                Content, 14 bytes, 2 lines:
                Tool: Read
                \tx\n
                """), "\(message)")
    }

    @Test("An edit is shown as the difference that it makes")
    func edit() async throws {
        let (title, message) = try await asked(
            "claude-permission-request", tool: "Edit",
            [
                "file_path": "/etc/hosts", "old_string": "a\nb\nc", "new_string": "a\nB\nc",
                "replace_all": true,
            ])
        #expect(title == "Claude Code wants to edit hosts")
        #expect(
            message.hasSuffix(
                """
                \nFile: /etc/hosts

                Difference, 4 lines:
                 a
                -b
                +B
                 c

                Also: {"replace_all":true}
                """), "\(message)")
    }

    @Test("However long a model's description is, the command is on the screen before it")
    func description() async throws {
        for count in [2000, 100_000] {
            let text = String(repeating: "It only lists files. ", count: count / 20)
            let (_, message) = try await asked(
                "claude-permission-request", tool: "Bash",
                ["command": "rm -rf /srv", "description": text])
            let start = message.prefix(1000)
            #expect(start.contains("\n\nCommand:\nrm -rf /srv\n\nAlso: {\"description\":\"It o"))
            #expect(message.utf8.count <= 65_536)
        }
    }

    @Test("What else a tool is given can't be hidden behind a long description")
    func hiddenMembers() async throws {
        let text = String(repeating: "It only runs the tests. ", count: 4000)
        let input = """
            {"command":"npm test","description":"\(text)","env":"\(text)",\
            "dangerouslyDisableSandbox":true,"run_in_background":true}
            """
        let sample = "claude-permission-request"
        let bytes =
            #"{"tool_input":\#(input),"tool_name":"Bash","session_id":"s","#
            + #""hook_event_name":"PermissionRequest","cwd":"/home"}"#
        let (hook, _, message) = try await asked(sample, Array(bytes.utf8))
        let rest = #"Also: {"dangerouslyDisableSandbox":true,"run_in_background":true,"#
        #expect(message.contains(rest))
        let file = queue.directory + "/input"
        try input.write(toFile: file, atomically: true, encoding: .utf8)
        let digest = try await Child.run("sha256sum", file).output.prefix(64)
        let note = "the input has, as JSON on one line, \(input.utf8.count) bytes"
        #expect(message.contains(note) && message.contains(digest), "\(message.prefix(600))")
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
    }

    @Test("A patch is shown as it is, and named by its files")
    func patch() async throws {
        let patch = "*** Begin Patch\n*** Update File: src/main.c\n@@\n-a\n+b\n*** End Patch"
        let (title, message) = try await asked(
            "codex-pre-tool-use", tool: "apply_patch", ["command": patch])
        #expect(title == "Codex wants to change main.c")
        #expect(message.hasSuffix("\n\nPatch, 6 lines:\n" + patch), "\(message)")
    }

    @Test("A request for the network says so")
    func network() async throws {
        let sample = "codex-permission-request"
        let (hook, title, message) = try await asked(sample, HookSample.bytes(sample))
        #expect(title == "Codex wants to run a command that reaches the network")
        #expect(message.contains("\nNetwork: https://example.org\n"), "\(message)")
        hook.kill(SIGTERM)
        _ = await hook.exit()
    }

    @Test("Of a long input the beginning is shown, and the answer is to all of it")
    func long() async throws {
        func bytes(_ end: String) throws -> [UInt8] {
            let content = String(repeating: "line é\n", count: 100_000) + end
            return try HookSample.bytes(
                "claude-permission-request",
                with: [
                    "tool_name": "Write", "tool_input": ["file_path": "/a", "content": content],
                ])
        }
        let (hook, _, message) = try await asked("claude-permission-request", try bytes("x"))
        #expect(message.utf8.count <= 65_536 && message.utf8.count > 65_000)
        let digest = try await Child.run(
            "sh", "-c", "{ yes 'line é' | head -n 100000; printf x; } | sha256sum"
        ).output.prefix(64)
        let note = """
            Only the beginning is shown: it has 800001 bytes, with the SHA-256 \(digest).

            Content, 800001 bytes, 100001 lines:
            line é
            line é

            """
        #expect(message.contains(note), "\(message.prefix(600))")
        let other = try queue.hook("claude", try bytes("y"))
        #expect(try await eventually { try await queue.objects("list").count == 2 })
        for id in ["1", "2"] { _ = try await queue.runInTerminal("answer", id, "deny") }
        for hook in [hook, other] { #expect(await hook.finish().output.contains("denied by a")) }
    }

    @Test("A request that goes on for ever is denied when the wait is over")
    func flood() async throws {
        let finished = try await Child(
            "sh", ["-c", "yes | \(CommandLineQueue.program) hook claude --wait 200ms"],
            environment: ["ALERTQ_DATABASE": queue.path]
        ).finish()
        #expect(finished.code == 2 && finished.errors.contains("stdin has not"), "\(finished)")
    }

    @Test(
        "The whole command is shown, what it hides is visible, and nothing before it looks like it")
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
        let rest = Array((command + "\n\nAlso: {\"description\":\"a\\nCommand:\\nls\"}").utf8)
        #expect(parts.count == 2 && Array(parts[1]) == rest, "\(message)")
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
