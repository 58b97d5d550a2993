/// Options that verbs have in common, and the rules among them.
protocol CommonOptions: Sendable {
    static var options: [Option<Self>] { get }

    init()
    /// Whether times for people are in UTC, too.
    var isUTC: Bool { get }
    /// Checks the rules among options that were given together.
    mutating func validate() throws
}
