import AlertCore
import TextFormats

/// What a person does with the window of a field.
enum FieldReply: Hashable, Sendable {
    /// “OK”, with what has been entered.
    case text(String)
    /// The same, before anybody could have read what the window asks for.
    case early(String)
    /// “Cancel”, or closes the window: back to the buttons.
    case back
    /// “Later”, in a window before it.
    case later

    /// What has been entered; `nil` for none.
    var text: String? {
        switch self {
        case .text(let text), .early(let text): text
        case .back, .later: nil
        }
    }
}

// The windows that ask for the values of fields, one after another: forms of zenity can't have
// initial values, nor texts of several lines, and kdialog has no forms.
extension DialogProgram {
    /// How to ask for the value of a field.
    ///
    /// - Parameters:
    ///   - texts: What the window has at first: a text, or the ids of chosen options.
    ///   - problem: Why the value that was entered before is refused; `nil` at first.
    func attempt(
        _ field: Alert.Field, of alert: Alert, with texts: [String], after problem: String?,
        path: String,
        on server: DisplayServer, without missing: Set<String> = []
    ) -> ProgramShow.Attempt<FieldReply> {
        let hints = field.hints.isEmpty ? "" : " (\(field.hints.joined(separator: ", ")))"
        let lines = [problem.map { "⚠ " + $0 }, field.title + hints, field.detail]
            .compactMap(\.self).map(SafeText.line)
        let title = SafeText.title(alert.title)
        let body = lines.map(Self.wrapped).joined(separator: "\n\n")
        let window: (words: [String], input: String) =
            switch self {
            case .zenity: zenity(field, texts, title, body)
            case .kdialog: (kdialog(field, texts, title, body), "")
            }
        let words = window.words.filter { !missing.contains(Self.name(ofOption: $0)) }
        return ProgramShow.Attempt(
            words: [path] + words, input: window.input, variables: Self.variables(on: server),
            printsExactly: self == .zenity && field.isMultiline,
            choice: { reply, code in
                switch code {
                case 0: .text(reply)
                case 1: .back
                default: nil
                }
            },
            closed: { code in code == 0 ? .text("") : code == 1 ? .back : nil },
            tooSoon: Self.tooSoon,
            early: { reply in
                // Nothing is answered by going back, and what was entered is kept.
                reply.text.map { .early($0) } ?? .back
            }, isUsable: { server.isThere })
    }

    /// Checks that what a window has at first can't be taken for an option, as ``rowTitles(_:)`` says
    /// of titles; a negative number is none.
    ///
    /// - Throws: ``ProgramError/unusable(program:reason:wrote:)``.
    func check(_ texts: [String], of field: Alert.Field) throws(ProgramError) {
        guard self == .kdialog, field.rows(choosing: texts) == nil, let text = texts.first,
            text.utf8.first == UInt8(ascii: "-"), Double(text) == nil
        else { return }
        throw .unusable(
            program: rawValue,
            reason: "can't show a value that begins like an option: that of “\(field.id)”")
    }

    private static let back = "--cancel-label=Back"

    /// How many columns of a line, and rows of a text, the window of a value shows without scrolling.
    private static let (valueColumns, valueRows) = (40, 15)

    /// What is shown before the window of a field, in parts of a number of lines, where that window
    /// doesn't show all of it: a long value, long options, or what stands in its title bar.
    func pages(of field: Alert.Field, with texts: [String], lines: Int) -> [String] {
        let hints = field.hints.isEmpty ? "" : " (\(field.hints.joined(separator: ", ")))"
        let head = [field.title + hints, field.detail].compactMap(\.self).map(SafeText.line)
        var long: [String] = []
        if let rows = field.rows(choosing: texts) {
            long = Self.longRows(rows.map(\.title))
        } else if let value = texts.first {
            let rows = DisplayWidth.wrapped(SafeText.message(value), to: AlertText.columns)
            let fits =
                field.isMultiline
                ? rows.count <= Self.valueRows : DisplayWidth.of(value) <= Self.valueColumns
            // Characters that change how others look, or that have no width, are in the window, too.
            let isPlain = SafeText.message(value).isIdentical(to: value)
            long = fits && isPlain ? [] : ["It has:"] + rows
        }
        let isBar = self == .zenity && field.isMultiline
        let isCut = isBar && DisplayWidth.of(head.joined(separator: " · ")) > Self.valueColumns
        guard isCut || !long.isEmpty else { return [] }
        let all = head.flatMap { DisplayWidth.wrapped($0, to: AlertText.columns) } + long
        return AlertText.pages(all, of: lines)
    }

    /// The row of a list in which nothing is chosen yet, by its number and its title.
    private static let noneRow = ["0", "(none)"]

    private static func wrapped(_ text: String) -> String {
        DisplayWidth.wrapped(text, to: 80).joined(separator: "\n")
    }

    private func zenity(
        _ field: Alert.Field, _ texts: [String], _ title: String, _ body: String
    ) -> (words: [String], input: String) {
        let text = Self.wrapped(title) + "\n\n" + body
        let initial = texts.first ?? ""
        if let rows = field.rows(choosing: texts) {
            // Keys hardly reach the marks before the rows, which only show what is chosen at first.
            let hasMarks = field.isList || rows.contains(where: \.isChosen)
            let marks = [field.isList ? "--checklist" : "--radiolist", "--column=chosen"]
            let number = hasMarks ? 2 : 1
            let words =
                ["--list", "--title=alertq", "--modal", Self.back] + (hasMarks ? marks : []) + [
                    "--text=" + Self.compressed(Self.escaped(text)), "--hide-header",
                    "--column=number", "--column=choice", "--hide-column=\(number)",
                    "--print-column=\(number)", "--separator= ",
                    "--width=\(Self.width(rows.map(\.title)))", "--height=400",
                ]
            let titles = Self.rowTitles(rows.map(\.title))
            let lines = rows.enumerated().flatMap { index, row in
                (hasMarks ? [row.isChosen ? "TRUE" : "FALSE"] : []) + [
                    "\(index + 1)", titles[index],
                ]
            }
            // The first row is preselected.
            let none = hasMarks ? [] : Self.noneRow
            return (words, (none + lines).map { $0 + "\n" }.joined())
        }
        if field.isMultiline {
            // Such a window has no other text than its own, and its title may be cut.
            let bar = body.replacing("\n\n", with: " · ").replacing("\n", with: " ")
            let words = ["--text-info", "--editable", "--title=" + bar, "--modal", Self.back]
            return (words + ["--width=800", "--height=400"], initial)
        }
        return (
            [
                "--entry", "--title=alertq", "--modal", Self.back,
                "--text=" + Self.literal(Self.compressed(text)), "--entry-text=" + initial,
            ], ""
        )
    }

    private func kdialog(
        _ field: Alert.Field, _ texts: [String], _ title: String, _ body: String
    ) -> [String] {
        // Its buttons can't be renamed, and a text of several lines has no “Cancel”.
        let way = field.isMultiline ? "Closing the window" : "“Cancel”"
        let body = body + "\n\n\(way) leads back to the buttons."
        let label = Self.compressed(Self.rich(Self.wrapped(title), body))
        if let rows = field.rows(choosing: texts) {
            let kind = field.isList ? ["--separate-output", "--checklist"] : ["--radiolist"]
            let titles = Self.rowTitles(rows.map(\.title))
            let words = rows.enumerated().flatMap { index, row in
                ["\(index + 1)", titles[index], row.isChosen ? "on" : "off"]
            }
            // The first row is preselected where none is on.
            let isOpen = !field.isList && !rows.contains(where: \.isChosen)
            let none = isOpen ? Self.noneRow + ["on"] : []
            return ["--title", "alertq"] + Self.geometry(rows.map(\.title)) + kind + [label, "--"]
                + none + words
        }
        let kind = field.isMultiline ? "--textinputbox" : "--inputbox"
        let size = field.isMultiline ? ["600", "400"] : []
        let initial = texts.first ?? ""
        return [
            "--title", "alertq", kind, label, "--",
            field.isMultiline ? Self.compressed(initial) : initial,
        ] + size
    }
}

extension Alert.Field {
    fileprivate var isMultiline: Bool {
        if case .text(let rules) = kind { rules.isMultiline } else { false }
    }

    fileprivate var isList: Bool { if case .choices = kind { true } else { false } }

    /// What can be chosen from a list; `nil` for what is typed.
    fileprivate func rows(choosing ids: [String]) -> [(title: String, isChosen: Bool)]? {
        let choices = choices
        return choices.isEmpty ? nil : choices.map { ($0.title, ids.contains($0.id)) }
    }

    private var choices: [(id: String, title: String)] {
        if case .boolean = kind { return [("yes", "Yes"), ("no", "No")] }
        return options.map { ($0.id, SafeText.title($0.title)) }
    }

    /// What a window has at first.
    var initialTexts: [String] {
        switch initialValue {
        case nil: []
        case .boolean(let isYes)?: [isYes ? "yes" : "no"]
        case .list(let ids)?: ids
        case let value?: [value.text]
        }
    }

    /// What was entered in a window, as it is typed; a list replies with the numbers of its rows.
    func texts(replied reply: String) -> [String] {
        let choices = choices
        guard !choices.isEmpty else { return [reply] }
        let chosen = reply.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            .filter { choices.indices.contains($0 - 1) }.map { choices[$0 - 1].id }
        return isList ? chosen : [chosen.last ?? ""]
    }
}
