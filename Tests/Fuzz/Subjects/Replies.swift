import AlertQueue
import FoundationEssentials
import TextFormats

@testable import AlertPresenters
@testable import alertq

/// Input from a terminal's keyboard during an alert: bytes in pieces, with pauses.
@Sendable func keys(_ input: inout Input) {
    var alert = alert(&input)
    if input.byte() & 1 == 0, !alert.buttons.isEmpty {
        alert.fields = [
            Alert.Field(input.text(), title: input.text(), initialValue: .text(input.text())),
            Alert.Field("lines", .text(.init(isMultiline: true))),
            Alert.Field("list", .choices([.init(input.text(), id: "a"), "b"]), isRequired: true),
        ]
    }
    let later = [
        AlertInteraction.LaterOption(title: "5 min"),
        AlertInteraction.LaterOption(title: "1 h", end: .after(.seconds(3600))),
    ]
    var interaction = AlertInteraction(alert, laterOptions: later)
    var (parser, slow) = (KeyParser(), KeyParser())
    var screen = AlertScreen(alert, hasColours: input.byte() & 1 == 0)
    let size = Terminal.Size(columns: Int(input.byte()), rows: Int(input.byte()))
    while !input.isEmpty {
        let piece = input.bytes()
        let keys = parser.keys(from: piece)
        expect(
            keys == piece.flatMap { slow.keys(from: CollectionOfOne($0)) },
            "pieces of different sizes gave different keys")
        let pause = input.byte() & 1 == 0 ? parser.pause() : nil
        if pause != nil || parser.patience == nil { slow = parser }
        let isTyped = input.byte() & 1 == 0 && interaction.type(keys)
        for key in (isTyped ? [] : keys) + [pause].compactMap({ $0 }) {
            let visible = Set((0..<4).filter { _ in input.byte() & 1 == 0 })
            let isAllShown = input.byte() & 1 == 0
            let view = AlertInteraction.View(
                visible: visible, isAllShown: isAllShown, isInList: input.byte() & 1 == 0)
            switch interaction.press(key, view) {
            case .finish(.button(let index, _)) where alert.buttons.indices.contains(index):
                expect(
                    isAllShown || alert.buttons[index].role == .cancel,
                    "an approval of what has not been shown")
            case .finish(.button(let index, _)):
                expect(alert.buttons.indices.contains(index), "a button that is not there")
            default: break
            }
        }
        slow = parser
    }
    let state = AlertScreen.State(
        interaction: interaction, facts: ["fact"], isLive: true, scroll: Int(input.byte()),
        follows: input.pick([.nothing, .entry, .cursor]))
    for line in screen.layout(state, size: size).lines {
        expect(line.width <= max(1, size.columns), "a line that is wider than the window")
    }
}

/// Lines typed at a prompt: numbers, ids and labels.
@Sendable func prompts(_ input: inout Input) {
    let alert = alert(&input)
    let later = [AlertInteraction.LaterOption(title: "5 min")]
    let prompt = NumberedPrompt(alert, laterOptions: later)
    _ = prompt.lines(facts: ["fact"], columns: Int(input.byte()))
    let line = input.remainingText()
    if case .button(let index, _) = prompt.read(line) {
        expect(alert.buttons.indices.contains(index), "a button that is not there")
    }
    var (typed, parser) = (PromptLine(), KeyParser())
    for key in parser.keys(from: line.utf8) {
        let echo = typed.press(key, isAlone: input.isEmpty)
        expect(!echo.unicodeScalars.contains("\u{1B}"), "an echo with an escape sequence")
    }
    if let id = try? AnswerCommand.id(line, of: alert) {
        expect(
            id.isIdentical(to: line) || alert.buttons.contains { $0.id.isIdentical(to: id) },
            "an id that no button has")
    }
}

/// An alert with up to four buttons; its texts need not be valid.
private func alert(_ input: inout Input) -> Alert {
    let roles: [Alert.Button.Role?] = [nil, .cancel, .destructive]
    let buttons = (0..<input.number(below: 5)).map { _ in
        Alert.Button(input.text(), id: input.text(), role: input.pick(roles))
    }
    return Alert(
        input.text(), message: input.byte() & 1 == 0 ? nil : input.text(),
        style: input.byte() & 1 == 0 ? .alert : .actionSheet, buttons: buttons)
}
