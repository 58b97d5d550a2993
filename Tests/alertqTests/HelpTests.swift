import Foundation
import TestSupport
import Testing

@testable import alertq

@Suite("Help", .inParallel)
struct HelpTests {
    /// The help texts as they were reviewed. `ALERTQ_WRITE_HELP=1` writes them anew.
    private static func golden(_ name: String, _ text: String) throws -> String {
        let file = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let path = "/\(file)/Help/\(name).txt"
        if try Context.variable("ALERTQ_WRITE_HELP") != nil {
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test(
        "The help of each verb is the one that was reviewed", arguments: Verbs.all.map { $0.name })
    func verbs(name: String) throws {
        let text = Help.text(for: try #require(Verbs.named(name)))
        let file = String(name.map { $0 == " " ? "-" : $0 })
        #expect(try text == Self.golden(file, text))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("The overview is the one that was reviewed")
    func overview() throws {
        #expect(try Help.overview == Self.golden("overview", Help.overview))
        #expect(Help.overview.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("The verbs that take most learning have examples, which can be typed as they are")
    func examples() async throws {
        let verbs = Verbs.all.filter { !$0.syntax.examples.isEmpty }
        #expect(
            Set(verbs.map { $0.name }).isSuperset(of: [
                "ask", "run", "watch", "history", "answer", "present",
            ]))
        // Prints the words of the last command of a line as a shell has them.
        let print = "alertq() { printf '%s\\n' \"$@\"; }; prune() { :; }; df() { :; }; "
        for verb in verbs {
            let help = Help.text(for: verb)
            for example in verb.syntax.examples {
                #expect(help.contains("\n  \(example.line)\n"), "\(example.line) is too long")
                let shell = try Child("/bin/sh", ["-c", print + example.line])
                let words = await shell.finish().output.split(separator: "\n").map(String.init)
                #expect(words.first == verb.name, "\(example.line)")
                _ = try #require(try verb.parse(Array(words.dropFirst())), "\(example.line)")
            }
        }
    }

    @Test("An abstract starts with a capital letter and ends without a full stop")
    func abstracts() {
        for verb in Verbs.all {
            #expect(verb.abstract.first?.isUppercase == true && verb.abstract.last != ".")
        }
    }

    @Test(
        "Help goes to stdout, and is a success",
        arguments: [
            ["--help"], ["-h"], ["help"], ["help", "ask"], ["ask", "--help"], ["audit", "--help"],
            ["help", "audit"], ["help", "audit", "list"], ["audit", "list", "-h"], ["--version"],
        ])
    func help(words: [String]) async throws {
        let test = TestContext()
        #expect(try await Program.run(words, in: test.context()) == .done)
        #expect(!test.output.text.isEmpty && test.errors.text.isEmpty)
    }

    @Test("An empty command line prints help on stderr, and is an error")
    func nothing() async throws {
        let test = TestContext()
        #expect(try await test.run() == .usage)
        #expect(test.output.text.isEmpty && test.errors.text == Help.overview)
    }

    @Test(
        "A usage error prints a sentence and a hint on stderr",
        arguments: [
            (["lsit"], "alertq: unknown verb “lsit”; did you mean “list”?", "help"),
            (["xyzzy"], "alertq: unknown verb “xyzzy”", "help"),
            (
                ["--json", "list"], "alertq: unknown option “--json”; options follow the verb",
                "help"
            ),
            (["audit"], "alertq: audit: expected one of list, verify, head, export", "help audit"),
            (
                ["audit", "verfy"],
                "alertq: unknown verb “audit verfy”; did you mean “audit verify”?",
                "help audit"
            ),
            (
                ["help", "shwo"], "alertq: help: unknown verb “shwo”; did you mean “show”?",
                "help --help"
            ),
            (
                ["help", "--json"],
                "alertq: help: unknown option “--json”; put text that begins with a dash after --",
                "help --help"
            ),
            (
                ["doctor", "--keep=10001"],
                "alertq: doctor: --keep: 10001 is too many; give at most 10000",
                "doctor --help"
            ),
            (
                ["show", "x\u{1B}"],
                "alertq: show: “x␛” is not the id of an alert; ids are numbers from 1",
                "show --help"
            ),
        ])
    func mistakes(words: [String], sentence: String, hint: String) async throws {
        let test = TestContext()
        #expect(try await Program.run(words, in: test.context()) == .usage)
        #expect(test.output.text.isEmpty)
        #expect(test.errors.text == "\(sentence)\nTry 'alertq \(hint)'.\n")
    }
}
