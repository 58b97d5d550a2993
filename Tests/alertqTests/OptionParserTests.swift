import Testing

@testable import alertq

@Suite("Option parser")
struct OptionParserTests {
    @Test(
        "An option and its argument may be spelt in every usual way",
        arguments: [
            ["--message=More", "Title"], ["--message", "More", "Title"], ["-mMore", "Title"],
            ["-m", "More", "Title"], ["Title", "-m", "More"], ["--mess=More", "Title"],
            ["--message=More", "--", "Title"], ["Title", "--message=More", "--"],
        ])
    func spellings(words: [String]) throws {
        let arguments = try OptionParser(AskCommand.self).parse(words)
        #expect(arguments[AlertOptions.message] == "More")
        #expect(arguments.operands == ["Title"])
    }

    @Test("Everything behind -- is an operand, in order")
    func end() throws {
        let arguments = try OptionParser(AnswerCommand.self).parse(["--json", "--", "7", "-b"])
        #expect(arguments.operands == ["7", "-b"])
        #expect(arguments.has(.json))
    }

    @Test("An operand before -- and one behind it keep their order")
    func mixed() throws {
        let arguments = try OptionParser(AnswerCommand.self).parse(["7", "--", "--json"])
        #expect(arguments.operands == ["7", "--json"])
        #expect(!arguments.has(.json))
    }

    @Test("Options keep their order among each other")
    func order() throws {
        let arguments = try OptionParser(AskCommand.self).parse([
            "-b", "One", "T", "--cancel=Two", "-bThree",
        ])
        #expect(arguments.occurrences.map(\.value) == ["One", "Two", "Three"])
        #expect(arguments.occurrences.map(\.option.name) == ["button", "cancel", "button"])
    }

    @Test("An empty argument, and one of any script, come through")
    func anyText() throws {
        let arguments = try OptionParser(AskCommand.self).parse(["-m", "", "-bДа, 👍", "日本?"])
        #expect(arguments[AlertOptions.message] == "")
        #expect(arguments[AskCommand.button] == "Да, 👍")
        #expect(arguments.operands == ["日本?"])
    }

    @Test(
        "What is wrong is said in a sentence",
        arguments: [
            (["--mesage", "x", "T"], "unknown option “--mesage”; did you mean --message?"),
            (["-jx", "T"], "unknown option “-j”; put text that begins with a dash after --"),
            (["-sheet", "T"], "unknown option “-s”; did you mean --sheet?"),
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
            (["a", "b"], "unexpected argument “b”; usage: alertq ask TITLE"),
            (["--=x", "T"], "unknown option “--”; put text that begins with a dash after --"),
        ])
    func problems(words: [String], sentence: String) throws {
        let error = try #require(throws: UsageError.self) {
            try OptionParser(AskCommand.self).parse(words)
        }
        #expect(error.description == sentence)
    }

    @Test("--help wins over operands that are missing or too many", arguments: [[], ["a", "b"]])
    func help(words: [String]) throws {
        #expect(try OptionParser(ShowCommand.self).parse(words + ["-h"]).has(.help))
    }

    @Test("Parsing from many tasks at once mixes nothing up")
    func concurrent() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let arguments = try OptionParser(AskCommand.self).parse([
                        "-m\(number)", "T\(number)", "--info", "n=\(number)",
                    ])
                    #expect(arguments[AlertOptions.message] == "\(number)")
                    #expect(arguments.operands == ["T\(number)"])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("No verb has an option twice", arguments: Verbs.all.map { $0.name })
    func unique(name: String) throws {
        let verb = try #require(Verbs.named(name))
        let options = verb.options + Option.common
        #expect(Set(options.map(\.name)).count == options.count)
        #expect(Set(options.compactMap(\.short)).count == options.compactMap(\.short).count)
    }
}
