/// The options of every verb that works on a queue.
struct QueueOptions: CommonOptions {
    static let options: [Option<QueueOptions>] = [
        Option("json", \.isJSON, help: "Print results as JSON, one object per line"),
        Option(
            "database", .path(ifEmpty: "the path is empty"), \.database,
            help: """
                Use the queue in the file PATH; otherwise $ALERTQ_DATABASE, or else your own queue \
                (for root, the system queue)
                """),
        Option("system", \.isSystem, help: "Use the system queue, /var/lib/alertq/queue.db"),
        .help,
    ]

    private(set) var isJSON = false
    /// The file that was named.
    private(set) var database: String?
    fileprivate(set) var isUTC = false
    private(set) var queue = QueueChoice.standard
    private var isSystem = false

    mutating func validate() throws {
        queue = try QueueChoice(database: database, isSystem: isSystem)
    }
}

extension Option where Target: Command, Target.Common == QueueOptions {
    /// For verbs that print times.
    static var utc: Option {
        Option("utc", \.common.isUTC, help: "Print all times in UTC, in the format of RFC 3339")
    }
}

extension Command where Common == QueueOptions {
    var queue: QueueChoice { common.queue }
    var isJSON: Bool { common.isJSON }
}
