import AlertCore

/// A desktop program that shows windows.
enum DialogProgram: String, CaseIterable, Sendable {
    /// GNOME's; see zenity(1).
    case zenity
    /// KDE's; see `kdialog --help`.
    case kdialog

    /// With more buttons, or wider ones, a window would not fit on a small screen: it gets a list.
    private static let buttonLimit = 4
    private static let columnLimit = 60

    /// How to show an alert, and what a reply to it means.
    func attempt(_ alert: Alert, _ text: AlertText, path: String) -> ProgramShow.Attempt {
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
            case .zenity: (zenityList(text), Self.rows(alert.buttons.indices, labels))
            case .kdialog: (kdialog(alert, text, labels), [])
            }
        let isByLabel = self == .zenity && fits
        return ProgramShow.Attempt(
            words: [path] + window.words, input: window.rows.map { $0 + "\n" }.joined(),
            choice: { reply, code in
                guard code == 0 || code == 1 else { return nil }
                let index =
                    isByLabel
                    ? order.first { Self.literal(labels.label($0)).isIdentical(to: reply) }
                    : Int(reply).map { $0 - 1 }
                guard let index, order.contains(index) else { return nil }
                return index < 0 ? .later(nil) : .button(index)
            }, tooSoon: .milliseconds(700), isUsable: { DisplayServer.isThere })
    }

    /// The rows of a list: the number of each choice, from 1, before its label; 0 is "Later".
    private static func rows(_ order: some Sequence<Int>, _ labels: DialogLabels) -> [String] {
        order.flatMap { ["\($0 + 1)", labels.label($0)] }
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

    /// A list, in which no row is preselected. Its text is always parsed as markup.
    private func zenityList(_ text: AlertText) -> [String] {
        let markup = Self.compressed(Self.escaped("\(text.title)\n\n\(text.body)"))
        return [
            "--list", "--title=alertq", "--modal", "--text=" + markup, "--hide-header",
            "--column=number", "--column=choice", "--hide-column=1", "--print-column=1",
            "--ok-label=Choose", "--cancel-label=Later", "--width=500", "--height=400",
        ]
    }

    /// Text that GLib's g_strcompress() turns back into the original: backslashes are doubled.
    private static func compressed(_ text: String) -> String {
        text.replacing("\\", with: "\\\\")
    }

    /// A label without mnemonics: a single underscore would make the next letter one.
    private static func literal(_ label: String) -> String {
        label.replacing("_", with: "__")
    }

    /// Text in which nothing is Pango markup or HTML.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}

// MARK: - kdialog

extension DialogProgram {
    private func kdialog(
        _ alert: Alert, _ text: AlertText, _ labels: DialogLabels
    ) -> [String] {
        // The text is marked as rich text and escaped; otherwise Qt would guess its format.
        let lines = { (text: String) in Self.escaped(text).replacing("\n", with: "<br>") }
        let rich = "<qt><b>\(lines(text.title))</b><br><br>\(lines(text.body))</qt>"
        let kind = alert.buttons.isEmpty ? "--msgbox" : "--menu"
        let rows = alert.buttons.isEmpty ? [] : Self.rows(labels.order(alert), labels)
        return ["--title", "alertq", kind, Self.compressed(rich), "--"] + rows
    }
}
