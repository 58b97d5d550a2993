import AlertPresenters
import AlertQueue

/// An alert as plain text with numbered buttons, for a terminal that is not its screen.
package enum TextPrompt {
    package static func text(_ record: AlertRecord) -> String {
        let alert = record.alert
        var lines = ["", "alert \(record.id) from \(SafeText.line(record.source.name))", ""]
        lines.append("  " + SafeText.line(alert.title))
        if let message = alert.message, !message.isEmpty {
            lines.append("")
            lines += SafeText.lines(message).split(
                separator: "\n", omittingEmptySubsequences: false
            )
            .map { "  " + $0 }
        }
        lines.append("")
        for (index, button) in alert.buttons.enumerated() {
            let label = PromptLabel.text(SafeText.line(button.title), button.role)
            lines.append("  \(index + 1)) \(label)")
        }
        return lines.joined(separator: "\n") + "\n\n" + question(alert)
    }

    package static func question(_ alert: Alert) -> String {
        let range = alert.buttons.count == 1 ? "1" : "1 to \(alert.buttons.count)"
        return "Number (\(range)), or Enter to leave it waiting: "
    }

    /// The button whose number, id or label was typed.
    package static func button(_ line: String, of alert: Alert) -> Alert.Button? {
        var typed = line[...]
        while typed.first?.isWhitespace == true { typed.removeFirst() }
        while typed.last?.isWhitespace == true { typed.removeLast() }
        if let number = Int(typed), alert.buttons.indices.contains(number - 1) {
            return alert.buttons[number - 1]
        }
        return alert.button(named: String(typed))
    }
}

extension Alert {
    /// The button with an id, or else the only one with a label, or else the only one whose id or
    /// label differs in nothing but case or the way in which accents are written; `nil` if there is
    /// none.
    package func button(named name: String) -> Button? {
        if let button = buttons.first(where: { $0.id.isIdentical(to: name) }) { return button }
        let labelled = buttons.filter { $0.title.isIdentical(to: name) }
        guard labelled.isEmpty else { return labelled.count == 1 ? labelled[0] : nil }
        let folded = name.lowercased()
        let similar = buttons.filter {
            $0.id.lowercased() == folded || $0.title.lowercased() == folded
        }
        return similar.count == 1 ? similar[0] : nil
    }
}

extension SlotHolder {
    /// Who it is and where: `ana on /dev/pts/3`, and through what unless that is the terminal.
    package var place: String {
        let name = user ?? "uid \(uid)"
        let others = presenters.filter { $0 != "terminal" }.joined(separator: ", ")
        let through = others.isEmpty ? "" : " (\(others))"
        if let tty { return "\(name) on \(tty)\(through)" }
        return "\(name), process \(pid) on \(host)\(through)"
    }

    /// Who shows alerts, or on whose screen they are stuck; it follows the word “alerts”.
    package var showing: String {
        guard let silence else { return "are shown by \(place)" }
        let state =
            LinuxProcess(pid: pid).isStopped ? "process \(pid) is stopped" : "process \(pid)"
        return "are on the screen of \(place), which has not moved for "
            + "\(silence.components.seconds) s (\(state))"
    }

    /// Where an alert is, as a sentence.
    package func whereabouts(of id: Alert.ID) -> String {
        let others = "alerts " + showing
        guard alert == id else { return "alert \(id) waits for its turn; \(others)" }
        return isThere ? "alert \(id) is shown by \(place)" : "alert \(id) waits; \(others)"
    }

    /// How to let others show alerts, if this process does not move.
    package var advice: String? {
        guard !isThere, pid > 0 else { return nil }
        let waking = LinuxProcess(pid: pid).isStopped ? "let it go on: kill -CONT \(pid); or " : ""
        return waking + "end it, so that others can show alerts: kill -KILL \(pid)"
    }
}
