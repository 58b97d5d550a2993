import AlertCore
import FoundationEssentials
import TextFormats

/// The lines that an alert leaves on the screen: how it ended, or what became of a choice.
struct AlertNote {
    let columns: Int
    var characters = TerminalCharacters.all

    /// How an alert ended.
    func resolved(
        _ title: String, isQuestion: Bool, response: Response, choseHere: Bool
    ) -> [String] {
        guard choseHere else {
            let ending = Ending(response, isQuestion: isQuestion).text(.brief(now: Date()))
            return lines("•", title, characters.ours(ending))
        }
        let what = response.button.map { characters.title($0.title) }
        return lines("✓", title, what ?? "closed")
    }

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
