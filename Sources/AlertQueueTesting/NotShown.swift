/// An error for when nothing appeared on the simulated screen while a test waited.
public struct NotShown: Error, CustomStringConvertible {
    /// The name of the presenter whose screen stayed empty.
    public let presenter: String
    /// How long the test waited.
    public let limit: Duration

    /// A sentence that names the presenter and the time.
    public var description: String { "“\(presenter)” showed nothing within \(limit)" }
}
