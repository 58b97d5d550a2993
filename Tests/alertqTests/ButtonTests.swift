import AlertQueue
import TestSupport
import Testing

@testable import alertq

@Suite("Buttons and questions", .inParallel)
struct ButtonTests {
    @Test(
        "An id is split off only where it is a plain identifier",
        arguments: [
            ("Yes", "Yes", "Yes"), ("yes=Yes, go on", "yes", "Yes, go on"),
            ("a.b-c_1=X", "a.b-c_1", "X"), ("=a=b", "a=b", "a=b"),
            ("x + y = z", "x + y = z", "x + y = z"), ("é=E", "é=E", "é=E"), ("id=a=b", "id", "a=b"),
        ])
    func parse(text: String, id: String, title: String) {
        let button = ButtonText.parse(text, role: nil)
        #expect(button.id == id)
        #expect(button.title == title)
    }

    private func ask(_ words: String...) throws -> AskCommand {
        try #require(try AskCommand.parse(words))
    }

    @Test("Buttons keep the order in which they were given, whichever option added them")
    func order() throws {
        let buttons = try ask("T", "-b", "a=A", "--cancel", "No", "--destructive=Drop", "-bB")
            .question.alert.buttons
        #expect(buttons.map(\.id) == ["a", "No", "Drop", "B"])
        #expect(buttons.map(\.role) == [nil, .cancel, .destructive, nil])
    }

    @Test("A question without buttons gets OK and Cancel")
    func none() throws {
        let buttons = try ask("T").question.alert.buttons
        #expect(buttons.map(\.id) == ["OK", "Cancel"])
        #expect(buttons.map(\.role) == [nil, .cancel])
    }

    @Test("Two buttons without a cancel button are refused, and the reason is given")
    func noCancel() throws {
        let error = try #require(throws: UsageError.self) { try ask("T", "-bYes", "-bNo") }
        #expect(error.description.contains("`-b Yes -b No && prune` would prune on “No”"))
        #expect(try ask("T", "-bYes", "-bNo", "--any").question.alert.buttons.count == 2)
        #expect(try ask("T", "-bFine").question.alert.buttons.count == 1)
        #expect(try ask("T", "-bYes", "--cancel=No").question.alert.buttons.count == 2)
    }

    @Test("All options end up in the alert")
    func everything() throws {
        let ask = try ask(
            "T", "-mM", "--sheet", "--priority=high", "--source=s", "--key=k", "--timeout=10m",
            "--default=OK", "--info=a=b=c", "--info=d=", "--wait-for=30s", "--if-unattended=fail",
            "-bOK")
        let alert = ask.question.alert
        #expect(alert.title == "T" && alert.message == "M" && alert.style == .actionSheet)
        #expect(alert.priority == .high && alert.source == "s" && alert.key == "k")
        #expect(alert.deadline == .after(.seconds(600)) && alert.defaultButton == "OK")
        #expect(alert.userInfo == ["a": "b=c", "d": ""])
        #expect(ask.question.waitFor == .after(.seconds(30)) && ask.question.ifUnattended == .fail)
    }

    @Test(
        "Options that contradict each other are refused",
        arguments: [
            ["--default=OK"], ["--detach", "--wait-for=1s"], ["--info=x"], ["--info==x"],
            ["--info=a=1", "--info=a=2"], ["--system", "--database=x"], ["--database="],
            ["--if-unattended=default"], ["--unattended-after=1s"],
            ["--default=OK", "--timeout=1s", "--if-unattended=fail", "--unattended-after=1s"],
            [
                "--default=OK", "--timeout=1s", "--if-unattended=default", "--unattended-after=1s",
                "--detach",
            ],
            ["--priority=urgent"], ["--timeout=0"],
        ])
    func contradictions(words: [String]) {
        #expect(throws: UsageError.self) {
            try AskCommand.parse(["T"] + words)
        }
    }

    @Test("A second button that means no is refused")
    func twoCancels() throws {
        let error = try #require(throws: UsageError.self) {
            try ask("T", "--cancel=No", "--cancel=Never")
        }
        #expect(error.description == "the option --cancel is given twice")
    }

    @Test("Options that a joined alert was asked without are named, if they were given")
    func joined() throws {
        var record = Sample.record()
        #expect(try ask("T").question.ignored(by: record).isEmpty)
        #expect(try ask("T", "--priority=normal").question.ignored(by: record).isEmpty)
        let both = try ask("T", "--timeout=10m", "--priority=high").question
        #expect(
            both.ignored(by: record) == [
                "--timeout is ignored, because it does not expire",
                "--priority is ignored, because it is normal",
            ])
        record = AlertRecord(
            id: 1, alert: record.alert, source: record.source, state: .queued,
            askedAt: Sample.asked, presentedAt: nil,
            expiresAt: Sample.asked.addingTimeInterval(600), snoozedUntil: nil, snoozes: 0,
            response: nil)
        #expect(try ask("T", "--timeout=10m").question.ignored(by: record).isEmpty)
        #expect(try ask("T", "--timeout=11m").question.ignored(by: record).count == 1)
    }

    @Test(
        "The note that says how to answer ends with a command to copy",
        arguments: [
            ([Alert.Button("Yes", id: "yes"), .cancel("No", id: "no")], "yes or no", "yes"),
            (["Go now", "b", "c"], "Go now, b or c", "'Go now'"), (["OK"], "OK", "OK"),
            (
                [.destructive("Delete", id: "yes"), .cancel("Keep", id: "no")], "yes or no", "no"
            ),
            (
                [.cancel("Keep", id: "no"), .destructive("Delete", id: "yes")], "no or yes", "no"
            ),
            ([.destructive("Delete", id: "yes"), "Later"], "yes or Later", "BUTTON"),
        ] as [([Alert.Button], String, String)])
    func howToAnswer(buttons: [Alert.Button], choice: String, word: String) {
        let record = Sample.record(Alert("T", buttons: buttons))
        #expect(
            AlertWait.howToAnswer(record, path: "/tmp/a b.db") == """
                waiting for an answer to alert 42 (\(choice)); \
                answer with: alertq answer 42 \(word) --database '/tmp/a b.db'
                """)
    }

    @Test("The source is the option's, else the environment's, else alertq")
    func source() throws {
        let test = TestContext()
        let plain = try ask("T").question
        #expect(try plain.complete(in: test.context()).source == "alertq")
        let context = test.context(variables: ["ALERTQ_SOURCE": "cron"])
        #expect(try plain.complete(in: context).source == "cron")
        #expect(try ask("T", "--source=me").question.complete(in: context).source == "me")
    }

    @Test("A word answers by id first, then by a label that only one button has")
    func answer() throws {
        let alert = Alert("T", buttons: [.init("b", id: "a"), .init("c", id: "b"), .init("c")])
        #expect(try AnswerCommand.id("b", of: alert) == "b")
        #expect(try AnswerCommand.id("c", of: alert) == "c")
        #expect(try AnswerCommand.id("d", of: alert) == "d")
        let twins = Alert("T", buttons: [.init("Go", id: "1"), .init("Go", id: "2")])
        #expect(throws: UsageError.self) { try AnswerCommand.id("Go", of: twins) }
        let cases = Alert(
            "T", buttons: [.init("OK"), .init("Yes", id: "y"), .init("yes", id: "z")])
        #expect(try AnswerCommand.id("ok", of: cases) == "OK")
        #expect(try AnswerCommand.id("YES", of: cases) == "YES")
        // Two ways to write é are two ids; either means the other where it is the only one.
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let accents = Alert("T", buttons: [.init(composed), .init(decomposed)])
        for id in [composed, decomposed] {
            #expect(try AnswerCommand.id(id, of: accents).utf8.elementsEqual(id.utf8))
        }
        let accent = Alert("T", buttons: [.init(composed), .init("no")])
        #expect(try AnswerCommand.id(decomposed, of: accent).utf8.elementsEqual(composed.utf8))
    }
}
