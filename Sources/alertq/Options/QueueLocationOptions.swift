/// Options that say which queue is meant.
protocol QueueLocationOptions: CommonOptions {
    /// The file that was named.
    var database: String? { get set }
    var isSystem: Bool { get set }
    /// The queue that follows from them.
    var queue: QueueChoice { get set }
}

extension QueueLocationOptions {
    static var location: [Option<Self>] {
        [
            Option(
                "database", .path(ifEmpty: "the path is empty"), \.database,
                help: """
                    Use the queue in the file PATH, or at a URI, postgresql://…, unix:… or ssh://…; \
                    otherwise $ALERTQ_DATABASE, or else your own queue (for root, the system queue)
                    """),
            Option("system", \.isSystem, help: "Use the system queue, /var/lib/alertq/queue.db"),
            .help,
        ]
    }

    mutating func validate() throws {
        queue = try QueueChoice(database: database, isSystem: isSystem)
    }
}

extension Command where Common: QueueLocationOptions {
    var queue: QueueChoice { common.queue }
}
