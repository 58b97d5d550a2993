/// Options that verbs have in common, and the rules among them.
protocol CommonOptions: Sendable {
    static var options: [Option<Self>] { get }

    init()
    /// Whether people want times in UTC, too.
    var isUTC: Bool { get }
    /// Checks what is wrong with options that were given together.
    mutating func validate() throws
}
