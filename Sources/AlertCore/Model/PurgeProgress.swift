/// The progress of an erasure.
public struct PurgeProgress: Sendable, Hashable, Codable {
    /// A step of an erasure.
    public enum Phase: String, Sendable, Codable {
        /// Texts are being erased from alerts.
        case texts
        /// The search index is being merged, so that words of erased texts disappear.
        case index
        /// The database file is being rewritten, without what was erased.
        case file
    }

    /// The current step.
    public var phase: Phase
    /// How much of it is done: responses or merges, or all in ``Phase/file``.
    public var done: Int
    /// How much there is in total, never less than ``done``; an estimate in ``Phase/index``.
    public var total: Int

    package init(phase: Phase, done: Int, total: Int) {
        self.phase = phase
        self.done = done
        self.total = total
    }
}
