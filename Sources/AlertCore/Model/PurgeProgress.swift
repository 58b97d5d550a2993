/// How far an erasure has come.
public struct PurgeProgress: Sendable, Hashable {
    /// What is being done.
    public enum Phase: String, Sendable {
        /// Texts are erased from alerts.
        case texts
        /// The index of words is merged, so that words without a text disappear.
        case index
        /// Unused space in the database file is overwritten.
        case file
    }

    /// What is being done now.
    public var phase: Phase
    /// How much of it is done: responses, merges or pages.
    public var done: Int
    /// How much there is, never less than ``done``; an estimate in ``Phase/index``.
    public var total: Int

    package init(phase: Phase, done: Int, total: Int) {
        self.phase = phase
        self.done = done
        self.total = total
    }
}
