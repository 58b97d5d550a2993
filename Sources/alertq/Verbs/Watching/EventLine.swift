import AlertPresenters
import AlertQueue
import TextFormats

/// An event on one line.
enum EventLine {
    static func text(_ entry: AuditEntry, in context: Context) -> String {
        let row = AuditListCommand.row(entry, in: context)
        guard let columns = context.output.columns else {
            return row.map(SafeText.line).joined(separator: "\t")
        }
        let event = entry.event
        // On a narrow screen the day gives way to what happened.
        let isNarrow = columns < 60 && !context.isUTC
        let time =
            isNarrow
            ? LocalTime.seconds(event.at) : LocalTime.text(event.at, context.lastingTime)
        let characters = context.output.characters
        // A later version, or a forger, may have written any word.
        let word = characters.line(event.outcome?.rawValue ?? event.kind.rawValue)
        let id = event.alertID.map { "\($0)" } ?? "-"
        var text = entry.title.map(characters.title) ?? event.source.map(characters.line) ?? ""
        if let button = entry.button { text = "“\(characters.title(button))”  " + text }
        let head = [time, id, DisplayWidth.padded(word, to: 9)].joined(separator: "  ")
        let who = event.kind == .asked ? event.source ?? "" : row[5]
        let line = head + "  " + text + "  (" + characters.line(who) + ")"
        return DisplayWidth.truncated(line, to: columns)
    }
}
