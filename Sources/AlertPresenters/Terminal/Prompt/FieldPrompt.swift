import AlertCore
import TextFormats

/// The values of an alert's fields, asked for one after another, a line each or several.
///
/// What is typed or pasted here chooses no button: that has been chosen before.
struct FieldPrompt {
    private let fields: [Alert.Field]
    private let characters: TerminalCharacters
    /// How many fields have been asked for.
    private(set) var index = 0
    private var lines: [String] = []
    private var values: [String: Alert.Value] = [:]

    init(_ fields: [Alert.Field], characters: TerminalCharacters = .all) {
        self.fields = fields
        self.characters = characters
    }

    /// What has been entered, once all fields have been asked for; `nil` before.
    var input: Alert.Input? {
        index == fields.count ? Alert.Input(values: values) : nil
    }

    /// The field's label and description, if it has one, and its options, as lines of at most `columns` columns.
    func lines(columns: Int) -> [String] {
        guard index < fields.count, lines.isEmpty else { return [] }
        let field = fields[index]
        // A label comes before what explains it.
        var texts = field.detail.map { [characters.line(field.title), characters.line($0)] } ?? []
        texts += field.options.enumerated().map {
            "  \(field.mark($0))) " + characters.title($1.title)
        }
        return texts.flatMap { DisplayWidth.wrapped($0, to: columns) }
    }

    /// The prompt for a line.
    var question: String {
        guard index < fields.count else { return "" }
        guard lines.isEmpty else { return "> " }
        let field = fields[index]
        var hints = field.hints
        switch field.kind {
        case .text(let rules): if rules.isMultiline { hints.append("an empty line ends it") }
        case .integer, .number: break
        case .boolean: hints.append("yes or no")
        case .choice: hints.append(field.marks)
        case .choices: hints.append("some of \(field.marks), separated by spaces or commas")
        }
        let hint = hints.isEmpty ? "" : " (\(hints.joined(separator: ", ")))"
        let initial = field.initialValue.map { " [\(field.typed($0))]" } ?? ""
        return characters.line(field.title + hint + initial) + ": "
    }

    /// Takes an empty line as a part of a text that has begun; returns `false`, and does nothing, if
    /// there is none.
    mutating func readBlankLine() -> Bool {
        guard !lines.isEmpty else { return false }
        lines.append("")
        return true
    }

    /// Takes a line; returns why it is refused, if it is.
    mutating func read(_ line: String) -> String? {
        guard index < fields.count else { return nil }
        let field = fields[index]
        if case .text(let rules) = field.kind, rules.isMultiline, !line.isEmpty {
            lines.append(line)
            return nil
        }
        while lines.last == "" { lines.removeLast() }
        let texts = lines.isEmpty ? field.texts(typed: line) : [lines.joined(separator: "\n")]
        lines = []
        do {
            let value = try field.value(typed: texts)
            if field.misses(value), value != nil || field.initialValue == nil {
                return Alert.Field.missing
            }
            if let value { values[field.id] = value }
        } catch {
            return characters.line(Alert.Field.refusal(error))
        }
        index += 1
        return nil
    }
}

extension Alert.Field {
    /// A value as its options are numbered, or as it is typed.
    fileprivate func typed(_ value: Alert.Value) -> String {
        switch value {
        case .boolean(let isYes): isYes ? "yes" : "no"
        case .list(let ids): ids.map(number).joined(separator: " ")
        case .text(let text): options.isEmpty ? text : number(of: text)
        case .integer, .number: value.text
        }
    }

    private func number(of id: String) -> String {
        options.firstIndex { $0.id.isIdentical(to: id) }.map(mark) ?? id
    }

    /// What an option is chosen with: its number after as many `#` as it takes that no other option
    /// is named so.
    fileprivate func mark(_ index: Int) -> String { markPrefix + "\(index + 1)" }

    fileprivate var marks: String { "\(mark(0)) to \(mark(options.count - 1))" }

    private var markPrefix: String {
        var prefix = ""
        while options.indices.contains(where: { isMisleading("\(prefix)\($0 + 1)", for: $0) }) {
            prefix += "#"
        }
        return prefix
    }

    private func isMisleading(_ mark: String, for index: Int) -> Bool {
        options.enumerated().contains { $0 != index && [$1.id, $1.title].contains(mark) }
    }

    /// What a line says, with options' numbers as their ids.
    fileprivate func texts(typed line: String) -> [String] {
        switch kind {
        case .choice: [id(typed: NumberedPrompt.trimmed(line))]
        case .choices:
            line.split { $0.isWhitespace || $0 == "," }.map { id(typed: String($0)) }
        case .text, .integer, .number, .boolean: [line]
        }
    }

    private func id(typed word: String) -> String {
        guard !options.contains(where: { $0.id == word || $0.title == word }),
            let index = options.indices.first(where: { mark($0) == word })
        else { return word }
        return options[index].id
    }
}
