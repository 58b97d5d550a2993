import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Prompts for fields", .inParallel)
struct FieldPromptTests {
    private static let fields: [Alert.Field] = [
        Alert.Field("name", title: "New name", isRequired: true, placeholder: "nas"),
        Alert.Field("text", .text(.init(isMultiline: true))),
        Alert.Field("copies", .integer(1...3), initialValue: .integer(2)),
        Alert.Field("keep", .boolean, initialValue: .boolean(true)),
        Alert.Field("disk", .choice(["sda", .init("The second", id: "sdb")]), isRequired: true),
        Alert.Field("tags", .choices(["a", "b", "c"], count: 1...2)),
    ]

    @Test("Fields are asked for in order, and a line that is no value is asked for again")
    func answers() {
        var form = FieldPrompt(Self.fields)
        #expect(form.question == "New name (such as nas): ")
        #expect(form.read("") == "It must have a value.")
        #expect(form.read("nas 2026") == nil)
        #expect(form.question == "text (optional, an empty line ends it): ")
        #expect(form.read("one") == nil && form.question == "> ")
        #expect(form.read("two") == nil && form.read("") == nil)
        #expect(form.question == "copies (a whole number from 1 to 3) [2]: ")
        #expect(form.read("4") == "It must be a whole number from 1 to 3.")
        #expect(form.read("") == nil)
        #expect(form.question == "keep (yes or no) [yes]: ")
        #expect(form.read("maybe") == "It must be yes or no.")
        #expect(form.read("no") == nil)
        #expect(form.lines(columns: 20) == ["  1) sda", "  2) The second"])
        #expect(form.question == "disk (1 to 2): ")
        #expect(form.read("3") == "It must be one of sda, sdb.")
        #expect(form.read("2") == nil && form.input == nil)
        #expect(form.read("1 2 3") == "It must have at most 2 options.")
        #expect(form.read("3, a") == nil)
        #expect(
            form.input?.values == [
                "name": .text("nas 2026"), "text": .text("one\ntwo"), "keep": .boolean(false),
                "disk": .text("sdb"), "tags": .list(["a", "c"]),
            ])
    }

    @Test(
        "Yes or no is typed in any usual way",
        arguments: [
            ("y", true), ("N", false), ("1", true), ("0", false), ("on", true), ("Off", false),
        ])
    func words(word: String, value: Bool) {
        var form = FieldPrompt([Alert.Field("keep", .boolean)])
        #expect(form.read(word) == nil && form.input?.values == ["keep": .boolean(value)])
    }

    @Test("An option that is named like another one's number is not taken for it")
    func misleading() {
        var form = FieldPrompt([
            Alert.Field(
                "snapshots",
                .choice([.init("Delete all", id: "2"), .init("Keep all", id: "1"), "#3"]),
                initialValue: .text("1"))
        ])
        #expect(
            form.lines(columns: 40) == ["  #1) Delete all", "  #2) Keep all", "  #3) #3"])
        #expect(form.question == "snapshots (#1 to #3) [#2]: ")
        #expect(form.read("3") == "It must be one of 2, 1, #3.")
        #expect(form.read("#1") == nil && form.input?.values == ["snapshots": .text("2")])
    }

    @Test("A blank line is no value of a field that needs one")
    func blank() {
        var form = FieldPrompt([Alert.Field("name", isRequired: true)])
        #expect(form.read(" \t") == "It must have a value." && form.read("x") == nil)
    }

    @Test("A description stands below its label, apart from the options")
    func described() {
        let form = FieldPrompt([
            Alert.Field(
                "disk", .choice(["sda", "sdb"]), title: "Which disk?", detail: "The new one.")
        ])
        #expect(form.lines(columns: 80) == ["Which disk?", "The new one.", "  1) sda", "  2) sdb"])
        #expect(form.question == "Which disk? (optional, 1 to 2): ")
    }

    @Test("Blank lines within a text are kept, and those after it are not")
    func blankLines() {
        var form = FieldPrompt([Alert.Field("text", .text(.init(isMultiline: true)))])
        #expect(form.readBlankLine() == false)
        #expect(form.read("one") == nil && form.readBlankLine())
        #expect(form.read("two") == nil && form.readBlankLine() && form.readBlankLine())
        #expect(form.read("") == nil)
        #expect(form.input?.values == ["text": .text("one\n\ntwo")])
    }

    @Test("Labels, descriptions and options can't move the cursor", arguments: hostileTexts)
    func hostile(text: String) {
        var form = FieldPrompt([
            Alert.Field("a", .choice([.init(text, id: "x")]), title: text, detail: text)
        ])
        let written = form.question + form.lines(columns: 40).joined()
        #expect(!written.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
        #expect(!written.contains("\u{202E}") && !written.contains("\u{9B}"))
        if let reason = form.read(text + "?") {
            #expect(!reason.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
        }
    }
}
