/// A verb that prints the entries of the audit log from one on: `audit list` and `audit export`.
protocol AuditReadingCommand: Command where Common == QueueOptions {
    /// The entry to continue after, if one was given.
    var after: AuditCursor? { get set }
}

extension AuditReadingCommand {
    var start: AuditCursor { after ?? .number(0) }
}

extension Option where Target: AuditReadingCommand {
    static var after: Option {
        Option(
            "after", .auditCursor, \.after,
            help: "Only entries after this one, by its number or cursor")
    }
}
