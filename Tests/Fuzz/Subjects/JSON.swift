import AlertTables
import FoundationEssentials
import TextFormats

@testable import AlertCore
@testable import SQLiteStore
@testable import alertq

/// The JSON in the database's columns, and the JSON that the command prints.
@Sendable func json(_ input: inout Input) {
    let kind = input.number(below: 4)
    let text = input.remainingText()
    switch kind {
    case 0: readButtons(text)
    case 1: readStrings(text)
    case 2: _ = try? StoredJSON.decode([String].self, text)
    default: printed(text)
    }
}

private func readButtons(_ text: String) {
    guard let buttons = try? StoredJSON.buttons(text) else { return }
    // Buttons that could be read can be written, and then read again unchanged.
    let written = StoredJSON.encode(buttons)
    guard let again = try? StoredJSON.buttons(written) else {
        return expect(false, "written buttons can't be read again")
    }
    expect(again.count == buttons.count, "a button was lost")
    for (one, other) in zip(buttons, again) {
        expect(
            one.id.isIdentical(to: other.id) && one.title.isIdentical(to: other.title)
                && one.role == other.role, "a button came back changed")
    }
}

private func readStrings(_ text: String) {
    guard let strings = try? StoredJSON.strings(text) else { return }
    let written = StoredJSON.encode(strings)
    guard let again = try? StoredJSON.strings(written) else {
        return expect(false, "written strings can't be read again")
    }
    expect(again == strings, "strings came back changed")
}

private func printed(_ text: String) {
    let value = JSONValue.object([(text, .string(text)), ("n", .array([.null, .bool(true)]))])
    guard let line = try? value.text() else { return expect(false, "a text that can't be printed") }
    expect(
        line.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            case .format: scalar == "\u{200D}"
            default: true
            }
        }, "a printed line with control characters")
    struct Members: Decodable { var n: [Bool?] }
    expect(
        text.isIdentical(to: "n")
            || (try? JSONDecoder().decode(Members.self, from: Data(line.utf8))) != nil,
        "the printed line is not JSON")
    let echo = try? JSONDecoder().decode([String].self, from: Data("[\(quoted(text))]".utf8))
    expect(echo?.first.map { $0.isIdentical(to: text) } == true, "a text came back changed")
}

private func quoted(_ text: String) -> String { (try? JSONValue.string(text).text()) ?? "" }
