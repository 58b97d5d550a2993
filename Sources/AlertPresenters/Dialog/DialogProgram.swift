import AlertCore
import Glibc
import TextFormats

/// A desktop program that shows windows.
enum DialogProgram: String, CaseIterable, Sendable {
    /// GNOME's; see zenity(1).
    case zenity
    /// KDE's; see `kdialog --help`.
    case kdialog

    /// With more buttons, or wider ones, a window would not fit on a small screen: it gets a list.
    private static let buttonLimit = 4
    private static let columnLimit = 60

    /// The exit codes that both document for a person's act: a choice or “OK”, and “Cancel” or the
    /// end of the window. Their errors are −1, which is 255, and −2.
    private static let actCodes: Set<Int32> = [0, 1]

    /// How long a window is there at least before what is done in it counts: a terminal's time of
    /// silence, and as much again for the window to appear, which no program reports.
    static let tooSoon = KeyGate.silence * 2

    /// How to show an alert, and what a reply to it means.
    ///
    /// - Parameters:
    ///   - server: Where its window appears.
    ///   - missing: The options that this version of the program lacks.
    func attempt(
        _ alert: Alert, _ text: AlertText, path: String, on server: DisplayServer,
        without missing: Set<String> = []
    ) -> ProgramShow.Attempt<PresenterChoice> {
        let labels = DialogLabels(alert)
        let order = labels.order(alert)
        let fits =
            order.count <= Self.buttonLimit + 1
            && order.map { DisplayWidth.of(labels.label($0)) }.reduce(0, +) <= Self.columnLimit
        let window: (words: [String], rows: [String]) =
            switch self {
            case .zenity where alert.buttons.isEmpty: (zenityNotice(text), [])
            case .zenity where fits: (zenityQuestion(alert, text, labels), [])
            // A label on the command line could be taken for an option.
            case .zenity:
                (zenityList(text, labels), Self.rows([-1] + alert.buttons.indices, labels))
            case .kdialog: (kdialog(alert, text, labels), [])
            }
        let isByLabel = self == .zenity && fits
        let words = window.words.filter { !missing.contains(Self.name(ofOption: $0)) }
        return ProgramShow.Attempt(
            words: [path] + words, input: window.rows.map { $0 + "\n" }.joined(),
            variables: Self.variables(on: server),
            choice: { reply, code in
                guard Self.actCodes.contains(code) else { return nil }
                let index =
                    isByLabel
                    ? order.first { Self.literal(labels.label($0)).isIdentical(to: reply) }
                    : Int(reply).map { $0 - 1 }
                guard let index, order.contains(index) else { return nil }
                return index < 0 ? .later(nil) : .button(index)
            }, closed: { Self.actCodes.contains($0) ? .close : nil }, tooSoon: Self.tooSoon,
            isUsable: { server.isThere })
    }

    /// The rows of a list: the number of each choice, from 1, before its label; 0 is "Later".
    private static func rows(_ order: some Sequence<Int>, _ labels: DialogLabels) -> [String] {
        let titles = rowTitles(labels.buttons)
        return order.flatMap { ["\($0 + 1)", $0 < 0 ? labels.later : titles[$0]] }
    }

    /// The columns that a row of a list shows.
    private static let rowColumns = 95

    /// Titles that are longer than a row shows, with those beside them, as numbered lines.
    static func longRows(_ titles: [String]) -> [String] {
        guard titles.contains(where: { DisplayWidth.of($0) > rowColumns }) else { return [] }
        return titles.enumerated().flatMap { index, title in
            DisplayWidth.wrapped("\(index + 1). \(title)", to: AlertText.columns)
        }
    }

    /// The titles of rows, with the numbers of those lines.
    ///
    /// So none begins like an option: Qt takes its own from anywhere among kdialog's arguments, and
    /// `-stylesheet` would let who asks draw the window; see
    /// <https://doc.qt.io/qt-6/qapplication.html#QApplication>.
    static func rowTitles(_ titles: [String]) -> [String] {
        titles.enumerated().map { "\($0 + 1). \($1)" }
    }

    /// A width in pixels for a list: both programs cut its rows rather than make it wider.
    static func width(_ titles: [String]) -> Int {
        let columns = titles.map { DisplayWidth.of($0) }.max() ?? 0
        return min(900, max(500, 120 + 8 * columns))
    }
}

// MARK: - Versions and environments

extension DialogProgram {
    /// Options of zenity that a window can do without, and that came late or may go.
    private static let dispensable = [
        "--modal", "--icon-name=dialog-question", "--hide-header", "--switch",
    ]

    /// The options that the installed version lacks, as its own parser finds before it gets to the
    /// last one, `--help`; `nil` if it can't even be asked.
    func missingOptions(path: String, on server: DisplayServer) async -> Set<String>? {
        guard self == .zenity else { return [] }
        let knows = { (options: [String]) in
            await HelperProgram.exitCode(
                of: [path, "--question"] + options + ["--help"],
                variables: Self.variables(on: server), within: .seconds(5)) == 0
        }
        if await knows(Self.dispensable) { return [] }
        guard await knows([]) else { return nil }
        var missing: Set<String> = []
        for option in Self.dispensable where await !knows([option]) {
            missing.insert(Self.name(ofOption: option))
        }
        return missing
    }

    static func name(ofOption word: String) -> String {
        String(word.prefix { $0 != "=" })
    }

    /// What its environment has instead of ours; `nil` for what it lacks.
    static func variables(on server: DisplayServer) -> [String: String?] {
        var variables = server.variables
        // Both take their texts in the encoding of the locale.
        if !isLocaleOfUTF8 { variables["LC_ALL"] = "C.UTF-8" }
        // These would change what an exit code of zenity means.
        for end in ["OK", "CANCEL", "ESC", "EXTRA", "ERROR", "TIMEOUT"] {
            for program in ["ZENITY_", "DIALOG_"] { variables[program + end] = .some(nil) }
        }
        return variables
    }

    /// Whether the locale of the environment exists, and its encoding is UTF-8; see newlocale(3).
    private static var isLocaleOfUTF8: Bool {
        guard let locale = newlocale(1 << LC_CTYPE, "", nil) else { return false }
        defer { freelocale(locale) }
        return nl_langinfo_l(nl_item(CODESET), locale).map { String(cString: $0) } == "UTF-8"
    }
}

// MARK: - zenity

extension DialogProgram {
    private func zenityNotice(_ text: AlertText) -> [String] {
        ["--info", "--ok-label=Close"] + zenityText(text)
    }

    private func zenityQuestion(
        _ alert: Alert, _ text: AlertText, _ labels: DialogLabels
    ) -> [String] {
        let destroys = alert.buttons.contains { $0.role == .destructive }
        return ["--question", "--switch"] + zenityText(text)
            + ["--icon-name=" + (destroys ? "dialog-warning" : "dialog-question")]
            + labels.order(alert).map { "--extra-button=" + Self.literal(labels.label($0)) }
    }

    private func zenityText(_ text: AlertText) -> [String] {
        ["--title=alertq", "--modal", "--no-markup", "--text=\(text.title)\n\n\(text.body)"]
    }

    /// A list, whose first row, "Later", is preselected. Its text is always parsed as markup.
    private func zenityList(_ text: AlertText, _ labels: DialogLabels) -> [String] {
        let markup = Self.compressed(Self.escaped("\(text.title)\n\n\(text.body)"))
        return [
            "--list", "--title=alertq", "--modal", "--text=" + markup, "--hide-header",
            "--column=number", "--column=choice", "--hide-column=1", "--print-column=1",
            "--ok-label=Choose", "--cancel-label=Close", "--width=\(Self.width(labels.buttons))",
            "--height=400",
        ]
    }

    /// Text that GLib's g_strcompress() turns back into the original: backslashes are doubled.
    static func compressed(_ text: String) -> String {
        text.replacingScalars(["\\": "\\\\"])
    }

    /// A label without mnemonics: a single underscore would make the next letter one.
    static func literal(_ label: String) -> String {
        label.replacingScalars(["_": "__"])
    }

    /// Text in which nothing is Pango markup or HTML.
    static func escaped(_ text: String) -> String {
        text.replacingScalars(["&": "&amp;", "<": "&lt;", ">": "&gt;"])
    }
}

// MARK: - kdialog

extension DialogProgram {
    private func kdialog(
        _ alert: Alert, _ text: AlertText, _ labels: DialogLabels
    ) -> [String] {
        let kind = alert.buttons.isEmpty ? "--msgbox" : "--menu"
        let rows = alert.buttons.isEmpty ? [] : Self.rows(labels.order(alert), labels)
        return ["--title", "alertq"] + Self.geometry(alert.buttons.isEmpty ? [] : labels.buttons)
            + [kind, Self.compressed(Self.rich(text.title, text.body)), "--"] + rows
    }

    /// The size of a list with long rows; others get the one that the program gives them.
    static func geometry(_ titles: [String]) -> [String] {
        let width = width(titles)
        return width > 500 ? ["--geometry", "\(width)x400"] : []
    }

    /// Texts that are marked as rich text and escaped, the first one bold; otherwise Qt would guess
    /// their format. Blanks stay as they are.
    static func rich(_ title: String, _ body: String) -> String {
        let lines = { (text: String) in escaped(text).replacingScalars(["\n": "<br>"]) }
        return "<qt><div style='white-space: pre-wrap'><b>\(lines(title))</b><br><br>"
            + "\(lines(body))</div></qt>"
    }
}
