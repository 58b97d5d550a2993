/// The options of every verb that works on a queue and prints results.
struct QueueOptions: QueueLocationOptions {
    static let options: [Option<QueueOptions>] =
        [Option("json", \.isJSON, help: "Print results as JSON, one object per line")] + location

    private(set) var isJSON = false
    var database: String?
    var isSystem = false
    @Required var queue: QueueChoice
    fileprivate(set) var isUTC = false
}

extension Option where Target: Command, Target.Common == QueueOptions {
    /// For verbs that print times.
    static var utc: Option {
        Option("utc", \.common.isUTC, help: "Print all times in UTC, in the format of RFC 3339")
    }
}

extension Command where Common == QueueOptions {
    var isJSON: Bool { common.isJSON }
}
