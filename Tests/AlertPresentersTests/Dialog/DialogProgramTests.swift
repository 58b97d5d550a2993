import AlertCore
import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Dialog programs", .inParallel)
struct DialogProgramTests {
    private func attempt(
        _ program: DialogProgram, _ alert: Alert, expiresIn: Duration? = nil
    ) -> ProgramShow.Attempt<PresenterChoice> {
        let presentation = Presentation.of(alert, expiresIn: expiresIn)
        let text = AlertText(presentation, user: "ana", host: "", lines: 20)
        return program.attempt(alert, text, path: "program", on: .x)
    }

    @Test("Each reply stands for one button, even if two have the same label")
    func replies() {
        let alert = Alert(
            "T", buttons: ["a_b", .init("Later", id: "x"), .init("a_b", id: "y"), .cancel("No")])
        let attempt = attempt(.zenity, alert)
        let labels = attempt.words.filter { $0.hasPrefix("--extra-button=") }
            .map { String($0.dropFirst(15)) }
        #expect(labels == ["a__b", "Later", "a__b (2)", "No", "Later (2)"])
        let choices = labels.map { attempt.choice($0, 1) }
        #expect(choices == [.button(0), .button(1), .button(2), .button(3), .later(nil)])
        for reply in ["", "a_b", "later", "No ", "0"] {
            #expect(attempt.choice(reply, 1) == nil)
        }
        #expect(attempt.choice("No", 255) == nil)
    }

    @Test(
        "An answer that comes before anybody could have read the window does not count",
        arguments: DialogProgram.allCases)
    func tooSoon(program: DialogProgram) async throws {
        let alert = Alert("T", buttons: ["Go", .cancel("No")])
        var attempt = attempt(program, alert)
        #expect(attempt.tooSoon == .milliseconds(1500))
        // A window that prints its first button as soon as it appears.
        let script = try ProgramScript("echo \(program == .zenity ? "Go" : "1")")
        attempt = ProgramShow.Attempt(
            words: [script.path], choice: attempt.choice, closed: attempt.closed,
            tooSoon: attempt.tooSoon)
        let show = ProgramShow(
            name: "dialog", pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4)),
            log: { _ in })
        let error = await #expect(throws: ProgramError.self) {
            try await show.present(.of(alert), through: attempt)
        }
        #expect(error?.description.contains("answered before anybody could read it") == true)
    }

    @Test("Buttons that do not fit on a row become a list, whose numbers choose them")
    func list() {
        let alert = Alert("T <b>", buttons: (0..<16).map { .init("Button \($0)") })
        for program in DialogProgram.allCases {
            let attempt = attempt(program, alert)
            #expect(attempt.choice("1", 0) == .button(0))
            #expect(attempt.choice("16", 0) == .button(15))
            #expect(attempt.choice("0", 0) == .later(nil))
            #expect(attempt.choice("17", 0) == nil && attempt.choice("-1", 0) == nil)
        }
        // What is preselected answers nothing.
        let rows = "0\nLater\n1\n1. Button 0\n2\n2. Button 1\n"
        #expect(attempt(.zenity, alert).input.hasPrefix(rows))
    }

    @Test("A destructive button never comes first", arguments: DialogProgram.allCases)
    func destructive(program: DialogProgram) {
        let alert = Alert("T", buttons: [.destructive("Prune"), .cancel("Keep")])
        let words = attempt(program, alert).words.suffix(6).joined(separator: " ")
        #expect(words.contains(/Later.*Prune.*Keep/))
    }

    @Test(
        "No text is taken for markup, an option or a mnemonic", arguments: DialogProgram.allCases)
    func hostile(program: DialogProgram) {
        for text in hostileTexts + ["<i>&amp;", "--help", "C:\\new", "&File_"] {
            for count in [0, 2, 16] {
                let alert = Alert(
                    text, message: text,
                    buttons: (0..<count).map { .init("\(text)\($0)", id: "\($0)") })
                let attempt = attempt(program, alert)
                let all = attempt.words + [attempt.input]
                #expect(all.allSatisfy { SafeText.lines($0) == $0 })
                let options = attempt.words.prefix { $0 != "--" }
                #expect(options.contains { $0.hasPrefix("--text=") || $0.hasPrefix("<qt>") })
                // Both programs parse the text above a list as markup.
                guard count == 16 || program == .kdialog else { continue }
                #expect(!options.contains { $0.contains("<i>&amp;") })
            }
        }
    }

    @Test("The facts name the asker and the deadline, and a long message is cut visibly")
    func text() {
        let alert = Alert(
            "T", message: (1...400).map { "\($0)" }.joined(separator: "\n"),
            buttons: ["Yes", .cancel("No")], priority: .critical, defaultButton: "No")
        let presentation = Presentation.of(alert, waitingCount: 2, expiresIn: .seconds(100))
        let text = AlertText(
            presentation, user: "ana", host: ProcessIdentity.current.host, lines: 20)
        let facts = text.facts.components(separatedBy: " · ")
        #expect(facts.prefix(3) == ["alert 42", "backup (ana)", "critical"] && facts.count == 6)
        #expect(facts[3].wholeMatch(of: /asked at [0-9]{2}:[0-9]{2}/) != nil)
        #expect(facts[4] == "2 more wait" && facts[5].contains(/^until .*, then “No”$/))
        #expect(text.message.split(separator: "\n").count == 20)
        #expect(text.message.hasSuffix("19\n… (the rest: alertq show 42)"))
    }

    @Test(
        "A dialog program that ends late with an undocumented exit code has failed, and nobody has closed it",
        arguments: [(0, true), (1, true), (2, false), (5, false), (254, false), (255, false)])
    func lateEnd(code: Int, isClosed: Bool) async throws {
        let alert = Alert("T", buttons: ["Go", .cancel("No")])
        let program = try ProgramScript("sleep 1.6; exit \(code)")
        let documented = attempt(.zenity, alert)
        let attempt = ProgramShow.Attempt(
            words: [program.path], choice: documented.choice,
            closed: documented.closed, tooSoon: documented.tooSoon)
        let show = ProgramShow(
            name: "dialog", pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4)),
            log: { _ in })
        guard !isClosed else {
            return #expect(try await show.present(.of(alert), through: attempt) == .close)
        }
        let error = await #expect(throws: ProgramError.self) {
            try await show.present(.of(alert), through: attempt)
        }
        #expect(error?.description.contains("failed with exit code \(code)") == true)
    }

    @Test("After an answer that came too early, the window is shown again")
    func tooSoon() async throws {
        let program = try ProgramScript(
            "echo . >>runs; [ $(wc -l <runs) -gt 1 ] && sleep 4; echo yes")
        let show = ProgramShow(
            name: "dialog", pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4))
        ) { _ in }
        let choice = try await show.present(
            .of(Alert("T", buttons: ["yes"])),
            through: ProgramShow.Attempt<PresenterChoice>(
                words: [program.path], choice: { _, _ in .button(0) }, closed: { _ in .close },
                tooSoon: .seconds(4)))
        #expect(choice == .button(0) && program.lines("runs").count == 2)
    }

    @Test("The time that a program takes to show its window is none in which it could be read")
    func slowStart() async throws {
        // It computes, then waits a little, and is answered.
        let program = try ProgramScript(
            "echo . >>runs; i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; sleep 0.2; echo yes")
        let show = ProgramShow(
            name: "dialog", pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4))
        ) { _ in }
        let error = await #expect(throws: ProgramError.self) {
            try await show.present(
                .of(Alert("T", buttons: ["yes"])),
                through: ProgramShow.Attempt<PresenterChoice>(
                    words: [program.path], choice: { _, _ in .button(0) }, closed: { _ in .close },
                    tooSoon: .milliseconds(400)))
        }
        #expect(error?.description.contains("answered before anybody could read it") == true)
    }

    @Test("A program that goes on after its reply has not been answered later")
    func slowEnd() async throws {
        let program = try ProgramScript("echo yes; sleep 0.5")
        let show = ProgramShow(
            name: "dialog", pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4))
        ) { _ in }
        await #expect(throws: ProgramError.self) {
            try await show.present(
                .of(Alert("T", buttons: ["yes"])),
                through: ProgramShow.Attempt<PresenterChoice>(
                    words: [program.path], choice: { _, _ in .button(0) }, closed: { _ in .close },
                    tooSoon: .milliseconds(400)))
        }
    }

    @Test("What is entered in the window of a field at once is kept, and asked for again")
    func earlyValue() throws {
        let attempt = DialogProgram.zenity.attempt(
            Alert.Field("host"), of: Alert("T", buttons: ["Go"]), with: [], after: nil, path: "p",
            on: .x)
        #expect(attempt.tooSoon == DialogProgram.tooSoon)
        #expect(attempt.early(.text("nas")) == .early("nas") && attempt.early(.back) == .back)
    }

    @Test(
        "A window for a field has its value, and its texts are no markup",
        arguments: DialogProgram.allCases)
    func fields(program: DialogProgram) throws {
        let alert = Alert("A_b \\ <i>?", buttons: ["Go"])
        func words(_ field: Alert.Field, _ problem: String? = nil)
            -> ProgramShow.Attempt<FieldReply>
        {
            program.attempt(
                field, of: alert, with: field.initialTexts, after: problem, path: program.rawValue,
                on: .x)
        }
        let text = words(
            Alert.Field("host", title: "Host <b>", initialValue: .text("--nas_1")), "It is wrong.")
        if program == .zenity {
            #expect(text.words.contains("--entry-text=--nas_1"))
            #expect(text.words.contains("--text=A__b \\\\ <i>?\n\n⚠ It is wrong.\n\nHost <b>"))
        } else {
            #expect(text.words.suffix(2) == ["--", "--nas_1"])
            #expect(text.words.contains { $0.contains("⚠ It is wrong.<br><br>Host &lt;b&gt;") })
        }
        let options: [Alert.Field.Option] = ["a", .init("B", id: "b")]
        let list = words(Alert.Field("mode", .choice(options), initialValue: .text("b")))
        let rows =
            program == .zenity ? list.input : list.words.suffix(6).joined(separator: "\n") + "\n"
        let chosen =
            program == .zenity
            ? "FALSE\n1\n1. a\nTRUE\n2\n2. B\n" : "1\n1. a\noff\n2\n2. B\non\n"
        #expect(rows == chosen)
        // Where nothing is chosen yet, a row of zenity's is chosen by selecting it, and the one that
        // is preselected is none of them.
        let mode = Alert.Field("mode", .choice(options))
        let free = words(mode)
        if program == .zenity {
            #expect(free.input == "0\n(none)\n1\n1. a\n2\n2. B\n")
            #expect(!free.words.contains("--radiolist"))
        } else {
            #expect(free.words.suffix(9).prefix(4) == ["0", "(none)", "on", "1"])
        }
        #expect(mode.texts(replied: "0") == [""])
        #expect(Alert.Field("sure", .boolean).texts(replied: "0") == [""])
        for attempt in [text, list, free] {
            #expect(attempt.choice("1", 0) == .text("1") && attempt.closed(0) == .text(""))
            #expect(attempt.closed(1) == .back && attempt.closed(255) == nil)
        }
    }

    @Test(
        "A window is wide enough for its rows, and a text of several lines has room and a way back")
    func sizes() {
        let long = String(repeating: "x", count: 80)
        let list = Alert.Field("one", .choice(["a", .init(long, id: "b")]))
        let text = Alert.Field("text", .text(.init(isMultiline: true)), initialValue: .text("a"))
        let alert = Alert("T", buttons: ["Go"])
        func words(_ program: DialogProgram, _ field: Alert.Field) -> [String] {
            program.attempt(
                field, of: alert, with: field.initialTexts, after: nil, path: "p", on: .x
            ).words
        }
        #expect(words(.zenity, list).contains("--width=760"))
        #expect(words(.kdialog, list).contains("760x400"))
        #expect(words(.kdialog, text).suffix(3) == ["a", "600", "400"])
        let label = words(.kdialog, text).first { $0.hasPrefix("<qt>") }
        #expect(label?.contains("Closing the window leads back to the buttons.") == true)
        let buttons = (0..<9).map { Alert.Button("\(long)\($0)") }
        #expect(attempt(.zenity, Alert("T", buttons: buttons)).words.contains("--width=768"))
    }

    @Test("A message is shown in parts that lose nothing, and so are labels that a row cuts")
    func parts() {
        let rows = (1...55).map { "row \($0)" }
        let alert = Alert(
            "T", message: rows.joined(separator: "\n"),
            buttons: [.init(String(repeating: "long ", count: 30)), .cancel("No")])
        let text = AlertText(.of(alert), user: "ana", host: "", lines: 20)
        #expect(text.pages.count == 3 && text.pages.joined(separator: "\n") == alert.message)
        #expect(text.with("x").body.hasPrefix("x\n\n"))
        let labels = DialogProgram.longRows(alert.buttons.map(\.title))
        #expect(labels.first?.hasPrefix("1. long") == true && labels.last == "2. No")
        #expect(DialogProgram.longRows(["Yes", "No"]).isEmpty)
        // So that none begins like an option.
        #expect(DialogProgram.rowTitles(["-style", "No"]) == ["1. -style", "2. No"])
        #expect(attempt(.zenity, alert).input.hasPrefix("0\nLater\n1\n1. long"))
    }

    @Test("kdialog is given no value that Qt could take for an option")
    func options() {
        let field = Alert.Field("f")
        let choice = Alert.Field("c", .choice(["-style"]))
        for value in ["-stylesheet=/tmp/x", "--platform", "-"] {
            #expect(throws: ProgramError.self) {
                try DialogProgram.kdialog.check([value], of: field)
            }
            #expect(throws: Never.self) { try DialogProgram.zenity.check([value], of: field) }
        }
        for value in ["-5", "-0.5", "a-b", ""] {
            #expect(throws: Never.self) { try DialogProgram.kdialog.check([value], of: field) }
        }
        #expect(throws: Never.self) { try DialogProgram.kdialog.check(["-style"], of: choice) }
    }

    @Test("What the environment says of exit codes is left out")
    func environment() {
        let variables = DialogProgram.variables(on: .x)
        for name in ["ZENITY_EXTRA", "DIALOG_ESC"] {
            #expect(variables[name] == .some(nil))
        }
    }

    @Test("Texts of several lines reach the windows, and come back, as they are")
    func severalLines() {
        let field = Alert.Field(
            "t", .text(.init(isMultiline: true)), initialValue: .text("C:\\new\n"))
        func attempt(_ program: DialogProgram) -> ProgramShow.Attempt<FieldReply> {
            program.attempt(
                field, of: Alert("T", buttons: ["Go"]), with: field.initialTexts, after: nil,
                path: "p", on: .x)
        }
        #expect(attempt(.kdialog).words.contains("C:\\\\new\n"))
        #expect(attempt(.zenity).input == "C:\\new\n" && attempt(.zenity).printsExactly)
        #expect(!attempt(.kdialog).printsExactly)
    }

    @Test(
        "What the window of a field doesn't show whole is shown before it",
        arguments: DialogProgram.allCases)
    func unseenValues(program: DialogProgram) {
        func pages(_ field: Alert.Field) -> String {
            program.pages(of: field, with: field.initialTexts, lines: 20).joined(separator: "\n")
        }
        let command = "rm -rf /srv; " + String(repeating: "true; ", count: 40) + "echo well"
        let line = Alert.Field("c", title: "Command", detail: "Runs.", initialValue: .text(command))
        #expect(pages(line).hasPrefix("Command\nRuns.\nIt has:\nrm -rf /srv;"))
        #expect(pages(line).hasSuffix("echo well"))
        let rows = (1...40).map { "row \($0)" }
        let text = Alert.Field(
            "t", .text(.init(isMultiline: true)),
            initialValue: .text(rows.joined(separator: "\n")))
        #expect(rows.allSatisfy { pages(text).contains($0) })
        let title = String(repeating: "long ", count: 25) + "end"
        #expect(pages(Alert.Field("o", .choice([.init(title), "b"]))).contains("end\n2. b"))
        let described = Alert.Field("d", .text(.init(isMultiline: true)), detail: title)
        #expect(pages(described).contains("end") == (program == .zenity))
        let reversed = Alert.Field("r", initialValue: .text("echo \u{202E}vrs/ fr- mr\u{202C}"))
        #expect(pages(reversed).contains("⟨U+202E⟩vrs/"))
        for short in [
            Alert.Field("s", initialValue: .text("nas")), Alert.Field("b", .choice(["a", "b"])),
            Alert.Field("n", .integer(), initialValue: .integer(4)),
        ] { #expect(pages(short).isEmpty) }
    }

    @Test("Numbers of rows, in any number, stand for options")
    func rows() throws {
        let options: [Alert.Field.Option] = ["x", "y z", "w"]
        let one = Alert.Field("one", .choice(options))
        #expect(one.texts(replied: "2") == ["y z"] && one.texts(replied: "") == [""])
        #expect(one.texts(replied: "9") == [""])
        let some = Alert.Field("some", .choices(options))
        #expect(some.texts(replied: "3 1") == ["w", "x"])
        #expect(some.texts(replied: "1\n2\n") == ["x", "y z"] && some.texts(replied: "") == [])
        #expect(Alert.Field("sure", .boolean).texts(replied: "2") == ["no"])
        #expect(Alert.Field("text").texts(replied: "2") == ["2"])
    }
}
