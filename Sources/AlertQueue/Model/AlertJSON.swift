import FoundationEssentials

/// The one JSON object that tells of an alert, whichever verb prints it.
///
/// Its keys and their order are a contract: keys are only ever added. Absent values are `null`.
package enum AlertJSON {
    /// The line for a stored alert.
    package static func line(_ record: AlertRecord) throws -> String {
        try value(record.alert, source: record.source.name, record: record).text()
    }

    /// The line for a question that was not stored, because there was nobody to ask.
    package static func line(unasked alert: Alert, source: String) throws -> String {
        try value(alert, source: source, record: nil).text()
    }

    private static func value(
        _ alert: Alert, source: String, record: AlertRecord?
    ) -> JSONValue {
        let info = alert.userInfo.sorted { $0.key < $1.key }
        let response = record?.response
        let isErased = record?.isErased ?? false
        let chosen = response?.button.flatMap { record?.id(of: $0) }
        return .object([
            ("id", .optional(record?.id)),
            ("source", .string(source)),
            ("key", .optional(alert.key)),
            ("style", .string(alert.style.rawValue)),
            ("priority", .string(alert.priority.word)),
            ("title", isErased ? .null : .string(alert.title)),
            ("message", .optional(alert.message)),
            ("buttons", .array(alert.buttons.map { button($0, of: record) })),
            ("info", .object(info.map { ($0.key, .string($0.value)) })),
            ("state", .optional(record?.state.rawValue)),
            ("asked_at", date(record?.askedAt)),
            ("presented_at", date(record?.presentedAt)),
            ("resolved_at", date(response?.resolvedAt)),
            ("collected_at", date(response?.collectedAt)),
            ("expires_at", date(record?.expiresAt)),
            ("snoozed_until", date(record?.snoozedUntil)),
            ("snoozes", .integer(Int64(record?.snoozes ?? 0))),
            ("outcome", .optional(response?.outcome.rawValue)),
            ("button", .optional(chosen)),
            ("button_index", .optional(response?.buttonIndex)),
            ("by", .optional(response?.by.rawValue)),
            ("responder", response?.responder.map(responder) ?? .null),
            ("unseen", .bool(record?.hasExpiredUnseen ?? false)),
            ("expires_by", .optional(record.flatMap(clock))),
        ])
    }

    /// By which clock the deadline passes.
    private static func clock(_ record: AlertRecord) -> String? {
        guard record.expiresAt != nil else { return nil }
        return record.followsWallClock ? "wall clock" : "boot clock"
    }

    package static func responder(_ responder: Responder) -> JSONValue {
        .object([
            ("uid", .integer(Int64(responder.uid))),
            ("user", .optional(responder.user)),
            ("via", .string(responder.via)),
            ("tty", .optional(responder.tty)),
            ("ssh", .optional(responder.ssh)),
            ("host", .string(responder.host)),
            ("pid", .integer(Int64(responder.pid))),
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
    /// What people and JSON call it.
    package var word: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        case .critical: "critical"
        }
    }
}
