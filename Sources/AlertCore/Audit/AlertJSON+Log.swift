import TextFormats

extension AlertJSON {
    /// The JSON object for an event; keys are only ever added.
    package static func value(_ entry: AuditEntry) -> JSONValue {
        let event = entry.event
        return .object([
            ("sequence", .integer(event.sequence)), ("event", .string(event.kind.rawValue)),
            ("at", date(event.at)), ("alert", .optional(event.alertID)),
            ("source", .optional(event.source)), ("title", .optional(entry.title)),
            ("outcome", .optional(event.outcome?.rawValue)),
            ("button_index", .optional(event.buttonIndex)),
            ("button_role", .optional(entry.buttonRole?.rawValue)),
            ("by", .optional(event.by?.rawValue)),
            ("responder", responder(event.responder)),
            ("login_uid", .optional(entry.loginUID)), ("session", .optional(entry.session)),
            ("boot", .string(entry.boot)), ("detail", detail(entry)),
            ("content", .optional(entry.content.map(Hex.text))),
            ("previous", .string(Hex.text(entry.previous))),
            ("hash", .string(Hex.text(entry.hash))),
            ("key", .optional(event.key)), ("button", .optional(entry.button)),
            ("note", .optional(entry.note)),
            ("cursor", .string(event.cursor.text)),
        ])
    }

    /// The object that a detail is; as a text if it is none.
    private static func detail(_ entry: AuditEntry) -> JSONValue {
        guard let detail = entry.detail else { return .null }
        guard let json = try? JSONValue(parsing: Array(detail.utf8)), case .object = json else {
            return .string(detail)
        }
        return json
    }
}
