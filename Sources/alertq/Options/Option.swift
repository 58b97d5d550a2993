/// One option of a verb, as it is parsed and as its help tells of it.
package struct Option: Sendable, Hashable {
    /// The long name, without its dashes.
    package let name: String
    /// The short name; an ASCII letter.
    package let short: Character?
    /// What stands for the argument in the help; `nil` for an option without one.
    package let placeholder: String?
    package let help: String
    /// Whether it may be given more than once.
    package let isRepeatable: Bool
    /// What its argument stands for; what the placeholder says, unless given.
    package let kind: ArgumentKind

    package init(
        _ name: String, short: Character? = nil, _ placeholder: String? = nil,
        _ kind: ArgumentKind? = nil, isRepeatable: Bool = false, help: String
    ) {
        self.name = name
        self.short = short
        self.placeholder = placeholder
        self.isRepeatable = isRepeatable
        self.kind = kind ?? ArgumentKind(placeholder: placeholder ?? "")
        self.help = help
    }
}

extension Option {
    package static let help = Option("help", short: "h", help: "Show this help")
    package static let json = Option("json", help: "Print results as JSON, one object a line")
    /// For verbs that print times.
    package static let utc = Option("utc", help: "Print all times in UTC, as RFC 3339 has them")
    package static let database = Option(
        "database", "PATH",
        help:
            "Use the queue in this file; else $ALERTQ_DATABASE, else your own (root: the system's)")
    package static let system = Option(
        "system", help: "Use the system queue, /var/lib/alertq/queue.db")

    /// What every verb takes, but for `help`.
    package static let common = [json, database, system, help]
}
