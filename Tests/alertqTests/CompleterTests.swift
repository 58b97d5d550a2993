import AlertQueue
import Foundation
import TestSupport
import Testing

@testable import alertq

@Suite("Completion", .inParallel)
struct CompleterTests {
    /// A queue with an alert of three buttons, and one with a key.
    private static func queue() async throws -> TemporaryDirectory {
        let path = try TemporaryDirectory()
        let manager = try await AlertManager(path: path.database)
        try await manager.show(
            Alert(
                "Prune?",
                buttons: [
                    Alert.Button("Prune", id: "yes"), "Ja, bitte", .cancel("No"),
                ]))
        try await manager.show(Alert("Reboot?", buttons: ["OK"], source: "updates", key: "k:1"))
        await manager.close()
        return path
    }

    private static func texts(_ words: [String]) async -> [String] {
        guard case .candidates(let candidates) = await Completer(words).offer() else { return [] }
        return candidates.map(\.text)
    }

    @Test(
        "A word is completed by everything that is possible at its place",
        arguments: [
            (["an"], ["answer"]),
            (["xyz"], []),
            (["audit", "v"], ["verify"]),
            (["xyz", ""], []),
            (["--v"], ["--version"]),
            (["help", "au"], ["audit"]),
            (["help", "audit", "he"], ["head"]),
            (["completions", ""], ["bash", "zsh", "fish"]),
            (["ask", "--pri"], ["--priority"]),
            (["ask", "--priority", ""], ["low", "normal", "high", "critical"]),
            (["ask", "--priority=h"], ["--priority=high"]),
            (["ask", "--prio", "c"], ["critical"]),
            (["ask", "--json", "--js"], []),
            (["ask", "-b", "x", "--but"], ["--button"]),
            (["ask", "-b", "yes=Y", "-bz", "--cancel=No", "--default", ""], ["yes", "z", "No"]),
            (["ask", "--message", "--pri"], []),
            (["ask", "--", "--pri"], []),
            (["ask", ""], []),
            (["ask", "--on", "d"], ["desktop", "dialog"]),
            (["notify", "--on=t"], ["--on=terminal"]),
            (["present", "--on", "c"], ["command:"]),
            (["history", "--by", "p"], ["person", "program", "policy"]),
        ])
    func words(words: [String], expected: [String]) async {
        #expect(await Self.texts(words) == expected)
    }

    @Test("Files and programs are left to the shell")
    func files() async {
        let offers: [([String], Offer)] = [
            (["list", "--database", "/t"], .files(after: "")),
            (["list", "--database=/t"], .files(after: "--database=")),
            (["restore", "/t"], .files(after: "")),
            (["watch", "--exec", "pri"], .programs(after: "")),
            (["present", "--on", "command:pri"], .programs(after: "command:")),
            (["ask", "--on=command:"], .programs(after: "--on=command:")),
        ]
        for (words, offer) in offers { #expect(await Completer(words).offer() == offer) }
    }

    @Test("Waiting alerts, their buttons, keys and sources come from the queue that the line names")
    func queued() async throws {
        let path = try await Self.queue()
        let queue = ["--database", path.database]
        #expect(await Self.texts(["answer"] + queue + [""]) == ["1", "2"])
        let buttons = ["yes", "Ja, bitte", "No"]
        #expect(await Self.texts(["answer"] + queue + ["1", ""]) == buttons + ["2"])
        #expect(await Self.texts(["answer"] + queue + ["2", "1", ""]) == buttons)
        #expect(await Self.texts(["answer"] + queue + ["--key", "k:1", ""]) == ["OK", "1", "2"])
        #expect(await Self.texts(["answer", "1"] + queue + ["J"]) == ["Ja, bitte"])
        #expect(await Self.texts(["answer"] + queue + ["1", "yes", ""]) == [])
        for verb in ["show", "withdraw", "cancel", "snooze"] {
            #expect(await Self.texts([verb] + queue + ["2", ""]) == ["1"])
            #expect(await Self.texts([verb] + queue + ["--key", ""]) == ["k:1"])
        }
        #expect(await Self.texts(["collect"] + queue + ["x", ""]) == ["k:1"])
        #expect(await Self.texts(["collect"] + queue + ["--id", ""]) == ["1", "2"])
        #expect(await Self.texts(["ask"] + queue + ["--key", ""]) == ["k:1"])
        #expect(await Self.texts(["history"] + queue + ["--source=u"]) == ["--source=updates"])
    }

    @Test("Users and presenters that have decided come from the history")
    func responders() async throws {
        let path = try await Self.queue()
        let queue = ["--database", path.database]
        #expect(await Self.texts(["history"] + queue + ["--via", ""]) == [])
        let answer = ["answer", "1", "yes"] + queue
        #expect(try await Program.run(answer, in: TestContext().context()) == .done)
        #expect(await Self.texts(["history"] + queue + ["--via", ""]) == ["answer"])
        let users = await Self.texts(["history"] + queue + ["--user", ""])
        #expect(users == [NSUserName()])
    }

    @Test(
        "--set is completed by the fields of the alert and their values, --button by what was chosen"
    )
    func fields() async throws {
        let path = try TemporaryDirectory()
        let manager = try await AlertManager(path: path.database)
        let fields = [
            Alert.Field("name", title: "New name", initialValue: "nas"),
            Alert.Field("keep", .boolean),
            Alert.Field("days", .choices(["Sat", "Sun"])), Alert.Field("copies", .integer()),
        ]
        try await manager.show(
            Alert("Rename?", buttons: ["Yes", .cancel("No")], fields: fields, key: "k"))
        await manager.close()
        let queue = ["--database", path.database]
        let answer = ["answer"] + queue
        for start in [answer + ["1", "Yes"], answer + ["--key", "k", "Yes"]] {
            for (words, expected) in [
                (["--set", ""], ["name=", "keep=", "days=", "copies="]),
                (["--set", "k"], ["keep="]), (["--set=n"], ["--set=name="]),
                (["--set", "name="], ["name=nas"]), (["--set", "keep=y"], ["keep=yes"]),
                (["--set", "days="], ["days=Sat", "days=Sun"]), (["--set", "copies="], []),
                (
                    ["--set", "keep=no", "--set", "days=Sat", "--set", ""],
                    ["name=", "days=", "copies="]
                ),
            ] {
                #expect(await Self.texts(start + words) == expected, "\(words)")
            }
        }
        #expect(await Self.texts(answer + ["--set", ""]) == [])
        let history = ["history"] + queue + ["--button", ""]
        #expect(await Self.texts(history) == [])
        #expect(try await Program.run(answer + ["1", "Yes"], in: TestContext().context()) == .done)
        #expect(await Self.texts(history) == ["Yes"])
    }

    @Test("Without a queue there is nothing to offer, and none is created")
    func noQueue() async throws {
        let path = try TemporaryDirectory()
        #expect(await Self.texts(["answer", "--database", path.database, ""]) == [])
        #expect(!FileManager.default.fileExists(atPath: path.database))
    }

    @Test("Every option with a fixed set of words completes them, and its help lists them")
    func listedWords() {
        for verb in Verbs.all {
            for option in verb.syntax.options where option.placeholder == "WORD" {
                guard case .words(let words) = option.kind else {
                    Issue.record("\(verb.name) --\(option.name) lists no words")
                    continue
                }
                for word in words { #expect(option.help.contains(word), "--\(option.name)") }
            }
        }
    }
}
