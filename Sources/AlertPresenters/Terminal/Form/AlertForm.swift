import AlertCore
import TextFormats

/// What a person fills in beside the buttons of an alert: its fields, and a note if one is wanted.
///
/// Either one of these entries takes the keys, or the buttons do. What comes to an entry chooses
/// nothing, so it counts even if it was pasted or its key is held down.
struct AlertForm: Equatable, Sendable {
    private(set) var entries: [FormEntry]
    /// The index of the entry that takes the keys; `nil` while the buttons do.
    private(set) var focus: Int?
    /// The entries that are fields; the one after them is the note.
    private let fieldCount: Int

    /// The first field takes the keys.
    init(_ fields: [Alert.Field]) {
        entries = fields.map { FormEntry($0) }
        focus = fields.isEmpty ? nil : 0
        fieldCount = fields.count
    }

    /// The entry that takes the keys.
    var focused: FormEntry? { focus.map { entries[$0] } }
    /// Whether the note takes the keys.
    var isInNote: Bool { focus == fieldCount }

    // MARK: - Keys

    /// Applies a key to the entry that takes them; returns whether it had a meaning there.
    ///
    /// - Parameter isInList: Whether that is a list of options one below the other, in which up and
    ///   down move.
    mutating func press(_ key: Key, isInList: Bool = false) -> Bool {
        guard let index = focus else { return false }
        if entries[index].press(isInList ? entries[index].keyInList(key) : key) { return true }
        switch key {
        case .tab, .down, .enter: leave(to: index + 1)
        case .backTab, .up: leave(to: index - 1)
        case .escape where isInNote: leave(to: nil)
        default: return false
        }
        return true
    }

    /// Takes keys that came all at once, or from a key that is held down, as what they are for a
    /// text: an Enter among them is a line break.
    ///
    /// - Returns: `false` if no text takes keys, or if these only move: they may leave the entry.
    mutating func type(_ keys: [Key]) -> Bool {
        guard let index = focus, entries[index].isText, !keys.allSatisfy(\.moves) else {
            return false
        }
        var text = ""
        for key in keys {
            switch key {
            case .character(let character): text.append(character)
            case .paste(let pasted): text += pasted
            case .enter: text += "\n"
            case .tab: text += "\t"
            default:
                _ = entries[index].press(.paste(text))
                text = ""
                _ = entries[index].press(key)
            }
        }
        _ = entries[index].press(.paste(text))
        return true
    }

    /// Has an entry take the keys: the first one, or the last.
    mutating func enter(first: Bool) {
        focus = first ? entries.indices.first : entries.indices.last
    }

    /// Has the note take the keys.
    mutating func enterNote() {
        if entries.count == fieldCount { entries.append(.note) }
        focus = fieldCount
    }

    private mutating func leave(to target: Int?) {
        if let focus { entries[focus].review(isFinal: false) }
        if isInNote, entries[fieldCount].isBlank { entries.removeLast() }
        focus = target.flatMap { entries.indices.contains($0) ? $0 : nil }
    }

    // MARK: - The answer

    /// Checks every entry; if an answer can't be given, returns `false` and has the first entry that
    /// is in the way take the keys.
    mutating func finish() -> Bool {
        for index in entries.indices { entries[index].review(isFinal: true) }
        guard let wrong = entries.firstIndex(where: { $0.problem != nil }) else { return true }
        focus = wrong
        return false
    }

    /// What goes with a button: the values and the note, or only the note with one that cancels.
    func input(isCancelling: Bool) -> Alert.Input {
        var input = Alert.Input()
        for (index, entry) in entries.enumerated() {
            let value = try? entry.value()
            if index == fieldCount {
                input.note = value?.text
            } else if !isCancelling {
                input.values[entry.field.id] = value ?? entry.field.emptied
            }
        }
        return input
    }
}

/// A field or a note as a person fills it in.
struct FormEntry: Equatable, Sendable {
    enum Content: Equatable {
        case text(LineEditor)
        case options(OptionPicker)
    }

    let field: Alert.Field
    private(set) var content: Content
    /// What is wrong with the content, which may be quoted in it.
    private(set) var problem: String?

    /// A remark that goes with the answer.
    static let note = FormEntry(Alert.Field("note", title: "Note"))

    /// An entry with the field's initial value.
    init(_ field: Alert.Field) {
        self.field = field
        let initial = field.initialValue
        switch field.kind {
        case .text(let rules):
            content = .text(LineEditor(initial?.text ?? "", isMultiline: rules.isMultiline))
        case .integer, .number: content = .text(LineEditor(initial?.text ?? ""))
        case .boolean:
            content = .options(OptionPicker(["yes", "no"], initial?.boolean.map { [$0 ? 0 : 1] }))
        case .choice(let options), .choices(let options, _):
            let ids = initial?.list ?? [initial?.text].compactMap { $0 }
            let picked = options.indices.filter { index in
                ids.contains { $0.isIdentical(to: options[index].id) }
            }
            let takesSeveral = if case .choices = field.kind { true } else { false }
            content = .options(
                OptionPicker(options.map(\.title), Set(picked), takesSeveral: takesSeveral))
        }
    }

    var isText: Bool { if case .text = content { true } else { false } }
    /// Whether it is a text without a visible character.
    var isBlank: Bool { if case .text(let editor) = content { editor.text.isBlank } else { false } }

    /// What a key means in a list of options one below the other: up and down move in it, and out
    /// of it only at its ends.
    func keyInList(_ key: Key) -> Key {
        guard case .options(let picker) = content else { return key }
        switch key {
        case .up where picker.cursor ?? 0 > 0: return .left
        case .down where picker.cursor ?? -1 < picker.titles.count - 1: return .right
        default: return key
        }
    }

    /// Applies a key; returns `false`, and does nothing, if the key has no meaning here.
    mutating func press(_ key: Key) -> Bool {
        switch content {
        case .text(var editor):
            guard let effect = editor.press(key) else { return false }
            if case .text(let before) = content, before.text != editor.text { problem = nil }
            content = .text(editor)
            if effect == .cut { problem = "No more than \(LineEditor.limit / 1024) KiB fit." }
        case .options(var picker):
            guard picker.press(key) else { return false }
            content = .options(picker)
            problem = nil
        }
        return true
    }

    /// Finds out what is wrong; that a value is missing only counts in the end.
    mutating func review(isFinal: Bool) {
        do {
            let isMissing = field.misses(try value())
            problem = isMissing && isFinal ? Alert.Field.missing : nil
        } catch {
            problem = Alert.Field.refusal(error)
        }
    }

    /// The value; `nil` for none.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if it doesn't fit.
    func value() throws(AlertError) -> Alert.Value? {
        switch (content, field.kind) {
        case (.text(let editor), _): return try field.value(typed: [editor.text])
        case (.options(let picker), .boolean):
            return picker.picked.first.map { .boolean($0 == 0) }
        case (.options(let picker), .choices):
            return try field.check(.list(picker.picked.sorted().map { field.options[$0].id }))
        case (.options(let picker), _):
            return picker.picked.first.map { .text(field.options[$0].id) }
        }
    }
}

/// A list of options, of which a person picks one or several.
struct OptionPicker: Equatable, Sendable {
    let titles: [String]
    let takesSeveral: Bool
    private(set) var picked: Set<Int>
    /// The option that Space selects or drops; where only one can be picked, that one.
    private(set) var cursor: Int?

    init(_ titles: [String], _ picked: Set<Int>?, takesSeveral: Bool = false) {
        self.titles = titles
        self.takesSeveral = takesSeveral
        self.picked = picked ?? []
        cursor = takesSeveral ? 0 : picked?.first
    }

    /// Applies a key; returns `false`, and does nothing, if it is none of a list's.
    mutating func press(_ key: Key) -> Bool {
        switch key {
        case .left: move(to: (cursor ?? 0) - 1)
        case .right: move(to: (cursor ?? -1) + 1)
        case .home: move(to: 0)
        case .end: move(to: -1)
        case .character(" ") where takesSeveral:
            if let cursor { picked.formSymmetricDifference([cursor]) }
        case .character(" "): move(to: (cursor ?? -1) + 1)
        case .character(let character):
            let letter = character.lowercased()
            let matches = titles.indices.filter { index in
                titles[index].first { $0.isLetter || $0.isNumber }?.lowercased() == letter
            }
            guard let match = matches.first(where: { $0 > cursor ?? -1 }) ?? matches.first else {
                return false
            }
            move(to: match)
        case .erase, .delete, .eraseLine:
            picked = []
            if !takesSeveral { cursor = nil }
        default: return false
        }
        return true
    }

    private mutating func move(to index: Int) {
        let index = (index + titles.count) % titles.count
        cursor = index
        if !takesSeveral { picked = [index] }
    }
}
