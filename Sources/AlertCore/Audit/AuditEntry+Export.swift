import TextFormats

// The entry as independent verifiers read it: exactly the values that its hashes cover.
extension AuditEntry {
    /// The values that the hashes cover, in their order, the hash of the entry before, and its own.
    package var exported: JSONValue {
        let by = event.responder
        return .object([
            ("seq", .integer(event.sequence)),
            ("at_ms", .integer(Timestamp.milliseconds(event.at))),
            ("event", .string(event.kind.rawValue)), ("alert_id", .optional(event.alertID)),
            ("source", .optional(event.source)), ("outcome", .optional(event.outcome?.rawValue)),
            ("button_index", .optional(event.buttonIndex)),
            ("button_role", .optional(buttonRole?.rawValue)),
            ("resolved_by", .optional(event.by?.rawValue)),
            ("principal", .string(principal)), ("user", .optional(by.principal.user)),
            ("login_uid", .optional(loginUID)), ("session", .optional(session)),
            ("via", .string(by.via)), ("tty", .optional(by.tty)), ("ssh", .optional(by.ssh)),
            ("means", .optional(by.means.text)), ("host", .optional(by.process?.host)),
            ("boot", .string(boot)), ("pid", .optional(by.process?.pid)),
            ("content", .optional(content.map(Hex.text))), ("detail", .optional(detail)),
            ("previous", .string(Hex.text(previous))), ("hash", .string(Hex.text(hash))),
        ])
    }

    /// Reads what ``exported`` has written, byte for byte; `nil` for anything else.
    package init?(exported json: JSONValue) {
        let text = { (name: String) in json[name]?.string }
        let number = { (name: String) in json[name]?.integer }
        let hash = { (name: String) in text(name).flatMap { Hex.bytes($0) } }
        guard let sequence = number("seq"), let time = number("at_ms"), let kind = text("event"),
            let principal = text("principal").flatMap({ Principal(text: $0, user: text("user")) }),
            let means = Means(
                text: text("means"), host: text("host"),
                pid: number("pid").flatMap(Int32.init(exactly:))),
            let via = text("via"), let boot = text("boot"), let previous = hash("previous"),
            let own = hash("hash")
        else { return nil }
        self.init(
            event: AlertEvent(
                sequence: sequence, kind: AlertEvent.Kind(rawValue: kind),
                at: Timestamp.date(milliseconds: time), alertID: number("alert_id"),
                source: text("source"), outcome: text("outcome").flatMap(Outcome.init),
                buttonIndex: number("button_index").flatMap(Int.init(exactly:)),
                by: text("resolved_by").flatMap(ResolvedBy.init),
                responder: Caller(
                    principal, via: via, means: means, tty: text("tty"), ssh: text("ssh"))),
            buttonRole: text("button_role").flatMap(Alert.Button.Role.init),
            loginUID: number("login_uid").flatMap(UInt32.init(exactly:)),
            session: number("session").flatMap(UInt32.init(exactly:)), boot: boot,
            content: hash("content"), detail: text("detail"), previous: previous, hash: own)
        // What was left out as unknown above is missing here, so that no other text has its hash.
        guard let read = try? exported.text(), let given = try? json.text(),
            read.utf8.elementsEqual(given.utf8)
        else { return nil }
    }
}
