import TextFormats

/// A stored property of an alert: what it is called, and what the log, a repeated question and an
/// erasure make of it.
///
/// Rows, JSON, hashes, details of the log, the comparison of questions and erasures are loops over
/// ``all``. So a new property is a member of ``Alert``, its line there, and its column in both
/// schemas; <doc:Contributing> has the list.
///
/// It is a class because a loop copies what it visits: of a structure, that is every text and closure.
package final class AlertProperty: Sendable {
    /// Its name in JSON and, as a term, in the log's details.
    package let name: String
    /// Its column in the table `alerts`.
    package let column: String
    /// What it is called where two questions with one key differ by it; `nil` if they may.
    package let difference: String?
    /// What stands before its milliseconds when the log is read to a person, if it is a term of the
    /// ask: a time, which the entry of the ask says as it is, instead of a part of the content, which
    /// that covers with a hash.
    package let term: String?
    package let erasure: Erasure
    package let form: Form

    /// What an erasure of texts does with it.
    package enum Erasure: Sendable {
        case kept, removed
        /// What was made from a label goes; see ``ErasedButtons``.
        case partial
    }

    /// How it is written and read; for a form that several properties have or may have, also where
    /// it is in an alert.
    package enum Form: Sendable {
        case title, style, priority, buttons, fields
        case text(Getter<String?>, Setter<String?>)
        /// Whole milliseconds.
        case duration(Getter<Duration?>, Setter<Duration?>)
        case names(Getter<[String]?>, Setter<[String]?>)
        case strings(Getter<[String: String]>, Setter<[String: String]>)

        package typealias Getter<Value> = @Sendable (Alert) -> Value
        package typealias Setter<Value> = @Sendable (inout Alert, Value) -> Void
    }

    private init(
        _ name: String, _ form: Form, column: String? = nil, differs difference: String? = nil,
        term: String? = nil, erasure: Erasure = .kept
    ) {
        self.name = name
        self.column = column ?? name
        self.difference = difference
        self.term = term
        self.erasure = erasure
        self.form = form
    }

    /// All of them. The content's hash covers those that are no terms in this order, and so do
    /// columns and JSON; names of terms come after `deadline_ms`, as the members of a detail do.
    package static let all: [AlertProperty] = [
        AlertProperty("style", .style, differs: "style"),
        AlertProperty("title", .title, differs: "title", erasure: .removed),
        AlertProperty(
            "message", .text({ $0.message }, { $0.message = $1 }), differs: "message",
            erasure: .removed),
        AlertProperty(
            "default", .text({ $0.defaultButton }, { $0.defaultButton = $1 }),
            column: "default_button", differs: "default button", erasure: .partial),
        AlertProperty("priority", .priority),
        AlertProperty("key", .text({ $0.key }, { $0.key = $1 })),
        AlertProperty("handler", .text({ $0.handler }, { $0.handler = $1 })),
        AlertProperty(
            "on", .names({ $0.presenters }, { $0.presenters = $1 }), column: "presenters"),
        AlertProperty("buttons", .buttons, differs: "set of buttons", erasure: .partial),
        AlertProperty("fields", .fields, differs: "set of fields", erasure: .removed),
        AlertProperty(
            "info", .strings({ $0.userInfo }, { $0.userInfo = $1 }), differs: "info",
            erasure: .removed),
        AlertProperty(
            "dismiss_after_ms", .duration({ $0.dismissAfter }, { $0.dismissAfter = $1 }),
            term: "dismiss after"),
        AlertProperty("snooze_ms", .duration({ $0.snooze }, { $0.snooze = $1 }), term: "snooze"),
        AlertProperty(
            "valid_ms", .duration({ $0.validFor }, { $0.validFor = $1 }), differs: "validity",
            term: "valid for"),
    ]

    /// Those whose hash an ask's entry has.
    static let content = all.filter { $0.term == nil }
    /// Those of the content that an erasure leaves, at least in part.
    static let left = content.filter { $0.erasure != .removed }
    /// Those of the content that are compared when a key is used again.
    static let compared = content.filter { $0.difference != nil }
    /// Those whose values may be stored in another form than they are given.
    static let normalized = all.filter { property in
        switch property.form {
        case .buttons, .fields, .duration: true
        case .title, .style, .priority, .text, .names, .strings: false
        }
    }
    /// Those that an ask's entry has as they are.
    package static let terms = all.filter { $0.term != nil }
    /// Those that an erasure removes, at least in part.
    package static let erased = all.filter { $0.erasure != .kept }

    /// The milliseconds of a term.
    func milliseconds(of alert: Alert) -> Int64? {
        if case .duration(let get, _) = form { get(alert)?.milliseconds } else { nil }
    }

    /// Copies it as it is stored: without closures, in whole milliseconds.
    func copy(from alert: Alert, to copy: inout Alert) {
        switch form {
        case .title: copy.title = alert.title
        case .style: copy.style = alert.style
        case .priority: copy.priority = alert.priority
        case .buttons:
            copy.buttons = alert.buttons.map { Alert.Button($0.title, id: $0.id, role: $0.role) }
        case .fields: copy.fields = alert.fields.map(\.normalized)
        case .text(let get, let set): set(&copy, get(alert))
        case .duration(let get, let set):
            set(&copy, get(alert).map { .milliseconds($0.milliseconds) })
        case .names(let get, let set): set(&copy, get(alert))
        case .strings(let get, let set): set(&copy, get(alert))
        }
    }

    /// Whether two alerts have the same, byte for byte, as the log's hashes tell them apart.
    package func isSame(in left: Alert, _ right: Alert) -> Bool {
        bytes(in: left) == bytes(in: right)
    }

    private func bytes(in alert: Alert) -> [UInt8] {
        let input = HashInput()
        input.append(self, of: alert)
        return input.bytes
    }
}
