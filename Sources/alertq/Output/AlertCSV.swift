import AlertQueue
import FoundationEssentials
import TextFormats

/// The history as comma-separated values.
enum AlertCSV {
    private static let names = [
        "id", "source", "source_uid", "key", "style", "priority", "title", "message", "state",
        "asked_at",
        "presented_at", "resolved_at", "collected_at", "expires_at", "snoozed_until", "snoozes",
        "outcome", "button", "button_index", "by", "uid", "user", "via", "tty", "ssh", "host",
        "pid", "unseen", "handled", "values", "note",
        "superseded_by", "valid_ms", "stale", "source_account_host", "account_host",
        "contradicted", "source_principal", "source_means", "principal", "means",
    ]

    /// The names of the columns, those of the JSON and, for the responder, of the SQL view.
    static var header: String { CSVText.row(names.map { .text($0) }) }

    /// The row of a resolved alert.
    ///
    /// - Parameter isShown: Whether it goes to a terminal, which might obey control characters.
    static func row(_ record: AlertRecord, isShown: Bool) -> String {
        let text = { (text: String?) in
            CSVText.Field.text(isShown ? text.map(SafeText.lines) : text)
        }
        let date = { (date: Date?) in CSVText.Field.text(date.map(Timestamp.text)) }
        let (alert, response) = (record.alert, record.response)
        let responder = response?.responder
        return CSVText.row([
            .number(record.id), text(record.source.name),
            .number((record.source.account?.uid).map(Int64.init)), text(alert.key),
            .text(alert.style.rawValue), .text(alert.priority.word), text(record.title),
            text(alert.message), .text(record.state.rawValue), date(record.askedAt),
            date(record.presentedAt), date(response?.resolvedAt), date(response?.collectedAt),
            date(record.expiresAt), date(record.snoozedUntil), .number(Int64(record.snoozes)),
            .text(response?.outcome.rawValue), text(response?.button.flatMap { record.id(of: $0) }),
            .number(response.map { Int64($0.buttonIndex) }), .text(response?.by.rawValue),
            .number((responder?.account?.uid).map(Int64.init)), text(responder?.principal.user),
            text(responder?.via), text(responder?.tty), text(responder?.ssh),
            text(responder?.process?.host), .number((responder?.process?.pid).map(Int64.init)),
            .text(record.hasExpiredUnseen ? "true" : "false"),
            .text(response?.cancelHandling.map { $0 == .handled ? "true" : "false" }),
            text(response?.input.text(for: alert.fields)), text(response?.note),
            .number(response?.supersededBy), .number(alert.validFor?.milliseconds),
            .text(response?.isStale == true ? "true" : "false"),
            text(record.source.account?.recordedHost), text(responder?.account?.recordedHost),
            .text(record.isContradicted ? "true" : "false"), text(record.source.principal.text),
            text(record.source.means.text), text(responder?.principal.text),
            text(responder?.means.text),
        ])
    }
}
