import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Questions that ask for more than a button, through the built command.
@Suite("Fields of the command", .inParallel)
struct FieldTests {
    private static let schema = """
        {"type": "object", "required": ["name"], "properties": {
          "name": {"type": "string", "title": "New name", "maxLength": 20, "pattern": "^[^/]*$"},
          "copies": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
          "keep": {"type": "boolean"},
          "disks": {"type": "array", "items": {"type": "string", "enum": ["sda", "sdb"]}}}}
        """

    private func ask(_ queue: CommandLineQueue, _ options: String...) async throws {
        let asked = try await queue.start(
            ["ask", "Rename?", "-b", "yes=Rename", "--cancel", "no=Keep", "--detach"] + options
        ).finish()
        #expect(asked.code == 0, "\(asked)")
    }

    @Test("The values and the note are printed after the button, stored, found and verified")
    func answered() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue, "--schema", Self.schema, "--key", "k")
        let answered = try await queue.run(
            "answer", "1", "yes", "--set", "name=nas\t\u{202E}2026", "--set", "keep=on", "--set",
            "disks=sdb", "--set", "disks=sda", "--note", "first\nsecond")
        #expect(answered.code == 0, "\(answered)")
        let collected = try await queue.run("collect", "k")
        #expect(
            collected.output == """
                yes
                name\tnas\\t\u{202E}2026
                copies\t1
                keep\ttrue
                disks\t["sda","sdb"]
                \tfirst\\nsecond

                """, "\(collected)")
        let alert = try #require(try await queue.objects("history", "--text", "second").first)
        let values = try #require(alert["values"] as? [String: any Sendable])
        #expect(values["copies"] as? Int == 1 && values["keep"] as? Bool == true)
        #expect(alert["note"] as? String == "first\nsecond")
        let shown = try await queue.run("show", "1")
        for line in [
            "name (New name), required: nas", "at most 20 characters; the pattern is “^[^/]*$”",
            "a whole number from 1 to 3; 1 unless it is given", "any of sda, sdb",
        ] {
            #expect(shown.output.contains(line), "\(shown)")
        }
        #expect(!shown.output.contains("\u{202E}"))
        #expect(try await queue.isSound())
    }

    @Test(
        "A value that doesn't fit is refused with its field's name, and the question waits",
        arguments: [
            (["--set", "name="], "the value of “name” is missing; to give it: --set name=TEXT"),
            (["--set", "copies=2"], "the value of “name” is missing"),
            (["--set", "name=a/b"], "the value of “name” must match the pattern “^[^/]*$”"),
            (
                ["--set", "name=n", "--set", "copies=4"],
                "the value of “copies” must be a whole number from 1 to 3"
            ),
            (
                ["--set", "name=n", "--set", "copies=x"],
                "the value of “copies” must be a whole number"
            ),
            (
                ["--set", "name=n", "--set", "keep=perhaps"],
                "the value of “keep” must be yes or no"
            ),
            (
                ["--set", "name=n", "--set", "disks=sdc"],
                "the value of “disks” must be some of sda, sdb"
            ),
            (["--set", "name=n", "--set", "name=m"], "the value of “name” must be given once"),
            (["--set", "other=n"], "the value of “other” is for no field"),
        ])
    func refused(options: [String], message: String) async throws {
        let queue = try CommandLineQueue()
        try await ask(queue, "--schema", Self.schema)
        let answered = try await queue.start(["answer", "1", "yes"] + options).finish()
        #expect(answered.code == 65 && answered.errors.contains(message), "\(answered)")
        #expect(try await queue.objects("list").count == 1)
        // The cancel button needs no value.
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(try await queue.isSound())
    }

    @Test("A schema that can't be a form is refused, and nothing is stored")
    func refusedSchema() async throws {
        let queue = try CommandLineQueue()
        for (schema, message) in [
            ("{", "is not JSON"), ("f.json", "to read a file: --schema @f.json"),
            ("@/nowhere", "can't read the schema in /nowhere"),
            (#"{"properties": {"a": {"type": "string", "format": "password"}}}"#, "a secret"),
        ] {
            let asked = try await queue.run("ask", "T", "--schema", schema, "--detach")
            #expect(asked.code != 0 && asked.errors.contains(message), "\(asked)")
        }
        #expect(try await queue.objects("list").isEmpty)
    }

    @Test("Options of a list that are given as one are named as they have to be given")
    func joinedOptions() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue, "--schema", Self.schema)
        for (typed, advice) in [
            (
                "sda,sdb",
                "must be some of sda, sdb; each is given on its own: --set disks=sda "
                    + "--set disks=sdb"
            ),
            ("sda sdb", "each is given on its own"), ("sda,sdc", "must be some of sda, sdb\n"),
        ] {
            let told = try await queue.run("answer", "1", "yes", "--set", "disks=\(typed)")
            #expect(told.code == 65 && told.errors.contains(advice), "\(told)")
        }
    }

    @Test("A schema's file may begin with a byte order mark, and what is wrong with one is said")
    func schemaFile() async throws {
        let queue = try CommandLineQueue()
        let path = queue.directory + "/schema.json"
        let mark = Data([0xEF, 0xBB, 0xBF])
        try (mark + Data(Self.schema.replacing("\n", with: "\r\n").utf8))
            .write(to: URL(filePath: path))
        try await ask(queue, "--schema", "@" + path)
        #expect(try await queue.run("show", "1").output.contains("name (New name), required"))
        let utf16 = try #require("{}".data(using: .utf16))
        for (contents, reason) in [
            (Data("[".utf8), "ends too early"), (Data("x".utf8), "there is no value at byte 0"),
            (utf16, "it is in UTF-16, and not in UTF-8"),
        ] {
            try contents.write(to: URL(filePath: path))
            let asked = try await queue.run("ask", "T", "--schema", "@" + path, "--detach")
            #expect(asked.code == 65, "\(asked)")
            #expect(asked.errors.contains("the schema in “\(path)” is not JSON: "), "\(asked)")
            #expect(asked.errors.contains(reason) && !asked.errors.contains("@@"), "\(asked)")
        }
    }

    @Test(
        "A forged value or note is found, and not returned",
        arguments: [
            "UPDATE alerts SET note = 'forged'", "UPDATE alerts SET note = NULL",
            #"UPDATE alerts SET field_values = '{"name":"forged","copies":1}'"#,
            "UPDATE alerts SET field_values = NULL",
        ])
    func forged(sql: String) async throws {
        let queue = try CommandLineQueue()
        try await ask(queue, "--schema", Self.schema, "--key", "k")
        let answer = try await queue.run(
            "answer", "1", "yes", "--set", "name=nas", "--note", "true")
        #expect(answer.code == 0, "\(answer)")
        try await queue.forge(sql)
        #expect(try await queue.run("audit", "verify").code == 65)
        let collected = try await queue.run("collect", "k")
        #expect(collected.code == 65 && collected.output.isEmpty, "\(collected)")
    }

    @Test("A form is filled in on the asker's own terminal, by keys and a paste")
    func terminal() async throws {
        let queue = try CommandLineQueue()
        let terminal = try PseudoTerminal()
        let asker = try queue.start(
            ["ask", "Rename?", "-b", "yes=Rename", "--cancel", "no=Keep", "--schema", Self.schema],
            on: terminal)
        /// Types, and waits for what the screen shows then; a choice has to be a key of its own.
        func step(_ keys: String, _ shown: String, isChoice: Bool = false) async throws {
            let start = terminal.bytes.count
            if isChoice {
                let isShown = try await terminal.press(keys) {
                    terminal.text(since: start).contains(shown)
                }
                #expect(isShown, "\(terminal.text(since: start))")
            } else {
                try terminal.type(keys)
                #expect(await terminal.shows(shown, since: start), "\(keys)")
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        #expect(await terminal.shows("Enter next"))
        // A button of a form that is not filled in says so.
        try await step("\t\t\t\t", "Enter chooses")
        try await step("\r", "It must have a value.", isChoice: true)
        try await step("\u{1B}[200~nas\n2026\r\u{1B}[201~", "nas 2026")
        try await step("!", "nas 2026!")
        try await step("\t", "› 1")
        try await step("\u{7F}3", "› 3")
        try await step("\t", "←→ select")
        try await step("y", "(•) ", isChoice: true)
        try await step("\t\u{1B}[C", "Space selects")
        try await step(" ", "[x] ", isChoice: true)
        try await step("\t", "Enter chooses")
        try await step("+", "Enter done", isChoice: true)
        try await step("\u{15}ok", "ok")
        try await step("\t", "Enter chooses")
        try await step("\r", "Storing", isChoice: true)
        #expect(await asker.exit() == 0, "\(terminal.text)")
        let record = try #require(try await queue.objects("history").first)
        #expect(record["note"] as? String == "ok" && record["button"] as? String == "yes")
        let values = try #require(record["values"] as? [String: any Sendable])
        #expect(values["name"] as? String == "nas 2026!" && values["copies"] as? Int == 3)
        #expect(values["keep"] as? Bool == true && values["disks"] as? [String] == ["sdb"])
        #expect(terminal.isInOrder)
        #expect(try await queue.isSound())
    }

    @Test("A program that presents gives values as JSON")
    func program() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue, "--field", "name=New name")
        let program = try queue.script(
            "form", #"sleep 0.6; echo '{"button":"yes","values":{"name":"nas"},"note":"typed"}'"#)
        let screen = try queue.start(["present", "--on", "command:" + program])
        let waited = try await queue.run("wait", "1")
        #expect(waited.output == "yes\nname\tnas\n\ttyped\n", "\(waited)")
        screen.kill(SIGTERM)
        _ = await screen.finish()
        #expect(try await queue.isSound())
    }

    @Test("A withdrawal says why, until its texts are erased")
    func withdrawn() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue)
        let withdrawn = try await queue.run("withdraw", "1", "--because", "the disk is new")
        #expect(withdrawn.code == 0, "\(withdrawn)")
        let shown = try await queue.objects("show", "1")
        #expect(
            shown.first?["note"] as? String == "the disk is new")
        let entries = try await queue.objects("audit", "list")
        #expect(entries.contains { $0["note"] as? String == "the disk is new" })
        #expect(try await queue.run("audit", "list").output.contains("by asker, the disk is new"))
        try await ask(queue)
        let blank = try await queue.run("withdraw", "2", "--because", " ")
        #expect(blank.code == 65 && blank.errors.contains("reason"), "\(blank)")
        #expect(try await queue.run("purge", "--older-than", "1ms").code == 0)
        #expect(try await !queue.run("audit", "list").output.contains("the disk is new"))
        let texts = try String(decoding: Data(contentsOf: URL(filePath: queue.path)), as: UTF8.self)
        #expect(!texts.contains("the disk is new"))
        #expect(try await queue.isSound())
    }
}
