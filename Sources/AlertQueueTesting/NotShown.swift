/// Nothing appeared on the pretended screen while a test waited for it.
public struct NotShown: Error, CustomStringConvertible {
    /// The name of the presenter whose screen stayed empty.
    public let presenter: String
    /// How long the test waited.
    public let limit: Duration

    /// Who showed nothing for how long.
    public var description: String { "“\(presenter)” showed nothing within \(limit)" }
}
