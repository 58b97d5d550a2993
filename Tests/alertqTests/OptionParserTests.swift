import TestSupport
import Testing

@testable import alertq

@Suite("Option parser", .inParallel)
struct OptionParserTests {
    @Test(
        "An option and its argument may be written in every usual way",
        arguments: [
            ["--message=More", "Title"], ["--message", "More", "Title"], ["-mMore", "Title"],
            ["-m", "More", "Title"], ["Title", "-m", "More"],
            ["-m", "More", "--prio=low", "Title"],
            ["--message=More", "--", "Title"], ["Title", "--message=More", "--"],
        ])
    func spellings(words: [String]) throws {
        let ask = try #require(try AskCommand.parse(words))
        #expect(ask.question.message == "More" && ask.question.title == "Title")
    }

    @Test("Everything after -- is an operand, in order")
    func end() throws {
        let arguments = try OptionParser(AnswerCommand.syntax).parse(["--json", "--", "7", "-b"])
        #expect(arguments.operands == ["7", "-b"])
        #expect(arguments.occurrences.map(\.option.name) == ["json"])
    }

    @Test("An operand before -- and one after it keep their order")
    func mixed() throws {
        let arguments = try OptionParser(AnswerCommand.syntax).parse(["7", "--", "--json"])
        #expect(arguments.operands == ["7", "--json"] && arguments.occurrences.isEmpty)
    }

    @Test("Options keep their order among each other")
    func order() throws {
        let arguments = try OptionParser(AskCommand.syntax).parse([
            "-b", "One", "T", "--cancel=Two", "-bThree",
        ])
        #expect(arguments.occurrences.map(\.value) == ["One", "Two", "Three"])
        #expect(arguments.occurrences.map(\.option.name) == ["button", "cancel", "button"])
    }

    @Test("An empty argument, and one in any script, are passed on")
    func anyText() throws {
        let ask = try #require(try AskCommand.parse(["-m", "", "-bДа, 👍", "日本?"]))
        #expect(ask.question.message == "" && ask.question.title == "日本?")
        #expect(ask.question.buttons.map(\.title) == ["Да, 👍"])
    }

    @Test(
        "Every error is a sentence",
        arguments: [
            (["--mesage", "x", "T"], "unknown option “--mesage”; did you mean --message?"),
            (["-jx", "T"], "unknown option “-j”; put text that begins with a dash after --"),
            (["-sheet", "T"], "unknown option “-s”; did you mean --sheet?"),
            (["-t", "10m", "T"], "unknown option “-t”; did you mean --timeout?"),
            (["-s", "x", "T"], "unknown option “-s”; put text that begins with a dash after --"),
            (["-Delete?"], "unknown option “-D”; put text that begins with a dash after --"),
            (["-é", "T"], "an option is one ASCII letter, or a word after two dashes"),
            (
                ["--de", "x", "T"],
                "the option “--de” is ambiguous: --destructive, --default, --detach"
            ),
            (["T", "-m"], "the option -m needs an argument: TEXT"),
            (["T", "--key"], "the option --key needs an argument: KEY"),
            (["--sheet=1", "T"], "the option --sheet takes no argument"),
            (["--key=a", "--key=b", "T"], "the option --key is given twice"),
            ([], "expected TITLE; usage: alertq ask TITLE"),
            (
                ["a", "b"],
                "unexpected argument “b”; a longer text needs --message, and a title of several "
                    + "words quotes; usage: alertq ask TITLE"
            ),
            (
                ["--", "a", "--json"],
                "unexpected argument “--json”; options stand before “--”, which ends them; "
                    + "usage: alertq ask TITLE"
            ),
            (["a", "--timeout", "0.3s"], "--timeout: “0.3s” is not a time; write 300ms"),
            (["a", "--valid", "10 minutes"], "--valid: “10 minutes” is not a duration; write 10m"),
            (["--=x", "T"], "unknown option “--”; put text that begins with a dash after --"),
        ])
    func problems(words: [String], sentence: String) throws {
        let error = try #require(throws: UsageError.self) {
            try AskCommand.parse(words)
        }
        #expect(error.description == sentence)
    }

    @Test(
        "What was probably meant is said",
        arguments: [
            (["history", "-n", "3"], "history: unknown option “-n”; did you mean --limit?"),
            (["audit", "list", "-n3"], "audit list: unknown option “-n”; did you mean --limit?"),
            (
                ["history", "--since", "1.5h"],
                "history: --since: “1.5h” is not a time; write 1h30m for that long ago"
            ),
            (
                ["snooze", "1", "10m"],
                "snooze: “10m” is not the id of an alert; ids are numbers from 1; for how long, or "
                    + "until when, is said with --for 10m"
            ),
            (
                ["snooze", "1", "tomorrow 8:00"], "--for 'tomorrow 8:00'"
            ),
            (["notify", "T", "BODY"], "notify: unexpected argument “BODY”; a longer text needs"),
        ])
    func meant(words: [String], sentence: String) async throws {
        let test = TestContext()
        #expect(try await Program.run(words, in: test.context()) == .usage)
        #expect(test.errors.text.contains(sentence), "\(test.errors.text)")
    }

    @Test("With --json, an error is an object of JSON, also where the line can't be understood")
    func json() async throws {
        for (words, json) in [
            (
                ["list", "--json", "--limit", "0"],
                #"{"error":"--limit: “0” is not a count; give a number of at least 1","verb":"list","exit_code":64}"#
            ),
            (
                ["lsit", "--json"],
                #"{"error":"unknown verb “lsit”; did you mean “list”?","verb":null,"exit_code":64}"#
            ),
            (
                ["list", "--json", "--database", "/nowhere/q.db"],
                #"{"error":"there is no queue at /nowhere/q.db","verb":"list","exit_code":66}"#
            ),
        ] {
            let test = TestContext()
            _ = try await Program.run(words, in: test.context())
            #expect(test.output.text.isEmpty)
            #expect(test.errors.text == json + "\n")
        }
        let test = TestContext()
        _ = try await Program.run(["show", "--", "--json"], in: test.context())
        #expect(test.errors.text.hasPrefix("alertq: show: "))
    }

    @Test("--help wins over missing and superfluous operands", arguments: [[], ["a", "b"]])
    func help(words: [String]) throws {
        #expect(try ShowCommand.parse(words + ["-h"]) == nil)
    }

    @Test("Parsing from many tasks at once keeps them apart")
    func concurrent() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let ask = try AskCommand.parse([
                        "-m\(number)", "T\(number)", "--info", "n=\(number)",
                    ])
                    #expect(ask?.question.message == "\(number)")
                    #expect(ask?.question.title == "T\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("No verb has an option twice", arguments: Verbs.all.map { $0.name })
    func unique(name: String) throws {
        let verb = try #require(Verbs.named(name))
        let options = verb.syntax.allOptions
        #expect(Set(options.map(\.name)).count == options.count)
        #expect(Set(options.compactMap(\.short)).count == options.compactMap(\.short).count)
    }

    /// An argument that an option with a placeholder takes.
    private static func argument(_ option: OptionSyntax) -> String? {
        if case .words(let words) = option.kind, option.placeholder != "PRESENTER" {
            return words.last
        }
        return switch option.placeholder {
        case nil: nil
        case "COUNT"?, "ID"?, "CURSOR"?: "7"
        case "HOST:PORT"?: "127.0.0.1:7"
        case "URL"?: "https://alerts.example"
        case "DURATION"?: "7m"
        case "TIME"?: "3d"
        case "ACCOUNT"?: "root"
        case "K=V"?, "ID=VALUE"?: "k=v"
        case "PRESENTER"?: "dialog"
        case "NUMBER:HASH"?: "7:" + String(repeating: "0a", count: 32)
        case "PROGRAM"?: "true"
        case .some: "word"
        }
    }

    private func change<Verb: Command>(_ verb: Verb.Type, by name: String) throws -> Bool {
        let option = try #require(verb.options.first { $0.syntax.name == name })
        var changed = Verb()
        let before = "\(changed)"
        try option.read(Self.argument(option.syntax) ?? "", into: &changed)
        return "\(changed)" != before
    }

    @Test("Every option sets a property of its verb", arguments: Verbs.all.map { $0.name })
    func properties(name: String) throws {
        let verb = try #require(Verbs.named(name))
        for option in verb.syntax.options {
            #expect(try change(verb, by: option.name), "\(name) --\(option.name)")
        }
    }

    @Test(
        "An option that is given its default counts as given",
        arguments: [
            ["list", "--all", "--limit=100"], ["doctor", "--keep=30"],
            ["watch", "--exec-timeout=5m"],
        ])
    func defaults(words: [String]) throws {
        #expect(throws: UsageError.self) {
            try Verbs.named(words[0])?.parse(Array(words.dropFirst()))
        }
    }

    @Test(
        "An operand is read by its position, and a list takes what the others leave",
        arguments: [
            ["wait", "3", "1", "2"], ["answer", "3", "yes"], ["answer", "3", "1", "2", "yes"],
            ["collect", "k"], ["backup", "f"],
            ["help", "audit", "list"], ["completions", "zsh", "--", "ask", "-b"],
        ])
    func operands(words: [String]) throws {
        let verb = try #require(try Verbs.named(words[0])?.parse(Array(words.dropFirst())))
        for word in words.dropFirst() where word != "--" {
            #expect("\(verb)".contains(word), "\(verb)")
        }
    }

    @Test(
        "A list of operands takes the words that those before and after it leave",
        arguments: [
            ("answer", 1, [1]), ("answer", 2, [0, 1]), ("answer", 4, [0, 0, 0, 1]),
            ("wait", 1, [0]), ("wait", 3, [0, 1, 1]), ("show", 2, [0, 0]),
            ("completions", 3, [0, 1, 1]), ("backup", 1, [0]),
        ] as [(String, Int, [Int])])
    func places(verb: String, count: Int, expected: [Int]) throws {
        let operands = try #require(Verbs.named(verb)).syntax.operands
        #expect((0..<count).map { operands.index(ofWord: $0, among: count) } == expected)
    }

    @Test("Reading a property that no operand has set is a bug, and traps")
    func required() async {
        await #expect(processExitsWith: .failure) { print(WithdrawCommand().queue) }
    }
}
