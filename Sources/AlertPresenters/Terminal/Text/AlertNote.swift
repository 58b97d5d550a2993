import AlertCore
import FoundationEssentials
import TextFormats

/// The lines that an alert leaves on the screen: how it ended, or what became of a choice.
struct AlertNote {
    let columns: Int
    var characters = TerminalCharacters.all

    /// How an alert ended, with what was filled in.
    func resolved(_ alert: Alert, response: Response, choseHere: Bool) -> [String] {
        let input = filledIn(alert, response.input)
        guard choseHere else {
            let isQuestion = !alert.buttons.isEmpty
            let ending = Ending(response, isQuestion: isQuestion).text(.brief(now: Date()))
            return lines("•", alert.title, characters.ours(ending) + input)
        }
        let what = response.button.map { characters.title($0.title) }
        return lines("✓", alert.title, (what ?? "closed") + input)
    }

    /// The values and the note that came with a choice, in the order of the fields.
    private func filledIn(_ alert: Alert, _ input: Alert.Input) -> String {
        var texts = alert.fields.compactMap { field in
            input.values[field.id].map { (field.title, field.text(of: $0)) }
        }
        if let note = input.note { texts.append(("note", note)) }
        return texts.map { label, text in
            let value = DisplayWidth.truncated(characters.line(text), to: Self.valueColumns)
            return " · " + characters.title(label) + ": " + value
        }.joined()
    }

    /// How many columns of a value stay.
    private static let valueColumns = 200

    /// That a choice came too late, below how the alert ended.
    func lost(_ title: String) -> [String] {
        let text =
            "your choice “" + characters.title(title) + "” came too late and was not stored"
        return DisplayWidth.wrapped(text, to: max(1, columns - 3)).map { "  " + $0 }
    }

    /// Until when an alert was snoozed.
    func snoozed(_ title: String, until date: Date, expiry: Date?, now: Date) -> [String] {
        lines("•", title, "snoozed until " + Self.snooze(until: date, expiry: expiry, now: now))
    }

    /// The end of a snooze, with the deadline if that comes first.
    static func snooze(until date: Date, expiry: Date?, now: Date) -> String {
        guard let expiry, expiry < date else { return LocalTime.text(date, .brief(now: now)) }
        return LocalTime.text(date, .brief(now: now)) + ", but it expires at "
            + LocalTime.text(expiry, .brief(now: now))
    }

    /// The message of an alert without buttons, which may leave the screen before it is read, below
    /// its title.
    func message(_ text: String) -> [String] {
        let lines = DisplayWidth.wrapped(characters.message(text), to: max(1, columns - 3))
        let shown =
            lines.count <= Self.messageLines ? lines : Array(lines.prefix(Self.messageLines - 1))
        let missing = lines.count - shown.count
        return (shown + (missing > 0 ? ["… \(missing) more lines"] : [])).map { "  " + $0 }
    }

    /// How many lines of a message stay: one alert must not fill the log of a terminal.
    private static let messageLines = 12

    /// That a choice could not be stored.
    func failed(_ title: String, error: AlertError) -> [String] {
        lines(
            "✗", title, "not stored: " + characters.ours(SafeText.line(error.description)))
    }

    /// A single line if possible. The title is shortened first: how the alert ended is the news.
    private func lines(_ sign: String, _ title: String, _ rest: String) -> [String] {
        let (title, room) = (characters.title(title), columns - DisplayWidth.of(rest) - 5)
        // If not even the beginning of the title fits on the line, the rest takes more lines.
        let width = room >= min(16, DisplayWidth.of(title)) ? room : max(16, columns - 4)
        let text = sign + " " + DisplayWidth.truncated(title, to: width) + " — " + rest
        return DisplayWidth.wrapped(text, to: columns)
    }
}
