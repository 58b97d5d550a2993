/// A verb that looks for alerts or responses by conditions.
protocol SearchingCommand: Command where Common == QueueOptions {
    var conditions: AlertConditions { get set }
}

// MARK: - Options

extension Option where Target: SearchingCommand {
    static var source: Option {
        Option("source", .source, \.conditions.source, help: "Only what this source asked")
    }

    static var key: Option {
        Option("key", .key, \.conditions.key, help: "Only what was asked with this key")
    }

    /// - Parameter help: The help, with what the time is about; by default the asking.
    static func since(
        help: String = "Only what was asked from this time on"
    ) -> Option {
        Option("since", .pastTime, \.conditions.since, help: help)
    }

    static func until(help: String = "Only what was asked before this time") -> Option {
        Option("until", .pastTime, \.conditions.until, help: help)
    }

    static var text: Option {
        Option(
            "text", .searchWords, \.conditions.text, help: "Only where all these words occur")
    }
}
