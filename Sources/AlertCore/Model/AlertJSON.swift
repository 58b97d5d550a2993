import FoundationEssentials
import TextFormats

/// The one JSON object for an alert, used by every verb.
///
/// What was asked comes first, and then what happened. Keys are only added. Absent values are `null`.
package enum AlertJSON {
    /// The line for a stored alert.
    package static func line(_ record: AlertRecord) throws -> String {
        try value(record).text()
    }

    /// The object for a stored alert.
    package static func value(_ record: AlertRecord) -> JSONValue {
        value(record.alert, source: record.source.name, record: record)
    }

    /// The line for a question that was not stored because nobody was there to ask.
    package static func line(unasked alert: Alert, source: String) throws -> String {
        try value(alert, source: source, record: nil).text()
    }

    /// The object of an alert, with everything that has happened to it if it is stored.
    static func value(
        _ alert: Alert, source name: String?, record: AlertRecord?
    ) -> JSONValue {
        let source = record?.source
        let response = record?.response
        let chosen = response?.button.flatMap { record?.id(of: $0) }
        let asked = asked(alert, id: record?.id, source: name, record)
        let happened: [(String, JSONValue)] = [
            ("state", .optional(record?.state.rawValue)),
            ("asked_at", date(record?.askedAt)),
            ("presented_at", date(record?.presentedAt)),
            ("resolved_at", date(response?.resolvedAt)),
            ("collected_at", date(response?.collectedAt)),
            ("expires_at", date(record?.expiresAt ?? end(alert.deadline))),
            ("snoozed_until", date(record?.snoozedUntil)),
            ("snoozes", .integer(Int64(record?.snoozes ?? 0))),
            ("outcome", .optional(response?.outcome.rawValue)),
            ("button", .optional(chosen)),
            ("button_index", .optional(response?.buttonIndex)),
            ("by", .optional(response?.by.rawValue)),
            ("responder", response?.responder.map(responder) ?? .null),
            ("unseen", .bool(record?.hasExpiredUnseen ?? false)),
            ("expires_by", .optional(clock(alert, record))),
            ("timeout_ms", .optional(timeout(alert, record))),
            ("handled", response?.cancelHandling.map { .bool($0 == .handled) } ?? .null),
            ("seen", .optional(record?.seen)),
            ("uid", .optional(source?.account?.uid)),
            ("pid", .optional(source?.process?.pid)),
            ("host", .optional(source?.process?.host)),
            ("stored", .bool(record?.isStored ?? false)),
            ("orphaned", .bool(record?.isOrphaned ?? false)),
            ("values", response?.input.json(for: alert.fields) ?? .object([])),
            ("note", .optional(response?.note)),
            ("superseded_by", .optional(response?.supersededBy)),
            ("stale", .bool(response?.isStale ?? false)),
            ("account_host", .optional(source?.account?.recordedHost)),
            ("contradicted", .bool(record?.isContradicted ?? false)),
            ("principal", .optional(source?.principal.text)),
            ("means", .optional(source?.means.text)),
            ("claimed_by", record?.claim.map { responder($0.by) } ?? .null),
            ("claimed_until", date(record?.claim?.until)),
        ]
        return .object(asked + happened)
    }

    /// What was asked, without anything that has happened since.
    static func asked(
        _ alert: Alert, id: Alert.ID?, source: String?, _ record: AlertRecord? = nil
    ) -> [(String, JSONValue)] {
        [("id", .optional(id)), ("source", .optional(source))]
            + AlertProperty.all.map { ($0.name, property($0, of: alert, record)) }
    }

    private static func property(
        _ property: AlertProperty, of alert: Alert, _ record: AlertRecord?
    ) -> JSONValue {
        switch property.form {
        case .title: record?.isErased == true ? .null : .string(alert.title)
        case .style: .string(alert.style.rawValue)
        case .priority: .string(alert.priority.word)
        case .buttons: .array(alert.buttons.map { button($0, of: record) })
        case .fields: .array(alert.fields.map(\.json))
        case .text(let get, _): .optional(get(alert))
        case .duration(let get, _): .optional(get(alert)?.milliseconds)
        case .names(let get, _): get(alert).map { .array($0.map(JSONValue.string)) } ?? .null
        case .strings(let get, _): object(get(alert))
        }
    }

    private static func object(_ strings: [String: String]) -> JSONValue {
        .object(strings.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
    }

    /// The object of a response alone.
    package static func value(_ response: Response) -> JSONValue {
        let button = response.button
        return .object([
            ("id", .integer(response.alertID)),
            ("info", object(response.userInfo)),
            ("resolved_at", date(response.resolvedAt)),
            ("collected_at", date(response.collectedAt)),
            ("outcome", .string(response.outcome.rawValue)),
            ("button", .optional(button?.id)),
            ("button_index", .integer(Int64(response.buttonIndex))),
            ("by", .string(response.by.rawValue)),
            ("responder", response.responder.map(responder) ?? .null),
            ("handled", response.cancelHandling.map { .bool($0 == .handled) } ?? .null),
            ("button_title", .optional(button?.title)),
            ("button_role", .optional(button?.role?.rawValue)),
            (
                "values",
                .object(
                    response.values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
            ),
            ("note", .optional(response.note)),
            ("superseded_by", .optional(response.supersededBy)),
            ("stale", .bool(response.isStale)),
        ])
    }

    /// The clock that the deadline follows.
    private static func clock(_ alert: Alert, _ record: AlertRecord?) -> String? {
        guard let record else { return end(alert.deadline) == nil ? nil : onWallClock }
        guard record.expiresAt != nil else { return nil }
        return record.deadlineClock
    }

    static let onWallClock = "wall clock"
    static let onServerClock = "server clock"

    /// The duration that was given as the deadline.
    private static func timeout(_ alert: Alert, _ record: AlertRecord?) -> Int64? {
        guard let record else {
            guard case .after(let time) = alert.deadline else { return nil }
            return time.milliseconds
        }
        guard let end = record.expiresAt, !record.followsWallClock else { return nil }
        return Timestamp.milliseconds(end) - Timestamp.milliseconds(record.askedAt)
    }

    private static func end(_ deadline: Alert.Deadline?) -> Date? {
        guard case .at(let date) = deadline else { return nil }
        return date
    }

    package static func responder(_ responder: Caller) -> JSONValue {
        .object([
            ("uid", .optional(responder.account?.uid)),
            ("user", .optional(responder.principal.user)),
            ("via", .string(responder.via)),
            ("tty", .optional(responder.tty)),
            ("ssh", .optional(responder.ssh)),
            ("host", .optional(responder.process?.host)),
            ("pid", .optional(responder.process?.pid)),
            ("account_host", .optional(responder.account?.recordedHost)),
            ("principal", .string(responder.principal.text)),
            ("means", .optional(responder.means.text)),
        ])
    }

    package static func date(_ date: Date?) -> JSONValue {
        .optional(date.map(Timestamp.text))
    }

    private static func button(_ button: Alert.Button, of record: AlertRecord?) -> JSONValue {
        .object([
            ("id", .optional(record.map { $0.id(of: button) } ?? button.id)),
            ("title", record?.isErased ?? false ? .null : .string(button.title)),
            ("role", .optional(button.role?.rawValue)),
        ])
    }
}

extension Alert.Priority {
    /// The word for it in JSON and in messages to people.
    package var word: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        case .critical: "critical"
        }
    }

    init?(word: String) {
        guard let named = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = named
    }
}
