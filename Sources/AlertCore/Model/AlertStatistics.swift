import FoundationEssentials

/// What became of the alerts that were asked in some time, and how long people took to answer.
public struct AlertStatistics: Sendable {
    /// How many alerts were asked, and how many of them ended in which way.
    public struct Counts: Sendable, Hashable {
        /// All of them.
        public internal(set) var asked = 0
        /// How many have ended in each way; an outcome that is absent has not happened.
        public internal(set) var outcomes: [Outcome: Int] = [:]

        /// How many of those that expired had never been on a screen.
        public internal(set) var unseen = 0

        /// How many still wait.
        public var waiting: Int { asked - outcomes.values.reduce(0, +) }

        mutating func add(_ other: Counts) {
            asked += other.asked
            unseen += other.unseen
            outcomes.merge(other.outcomes, uniquingKeysWith: +)
        }
    }

    /// The counts of what has a name.
    public struct Group: Sendable, Hashable {
        /// The name of a source or the id of a button; `#0` and so on for buttons whose ids have
        /// been erased.
        public let name: String
        /// What was asked by the source, or ended with the button.
        public let counts: Counts
    }

    /// How many names of sources and of buttons are told apart.
    static let groupLimit = 1000

    /// All alerts.
    public internal(set) var total = Counts()
    /// Those of each source, most asked first; at most 1,000 sources.
    public internal(set) var sources: [Group] = []
    /// Those that ended with each button, most chosen first; at most 1,000 ids.
    ///
    /// The outcome tells a choice (``Outcome/answered``) from a default that was applied
    /// (``Outcome/expired``) and a simulated cancel (``Outcome/cancelled``).
    public internal(set) var buttons: [Group] = []
    /// When the oldest of those that still wait was asked; `nil` where none waits.
    public internal(set) var oldestWaiting: Date?
    /// How long people took from the moment of asking to their answer.
    public internal(set) var timeFromAsked = AnswerTimes()
    /// How long people took from the last time that the alert appeared on a screen, where it did.
    public internal(set) var timeFromPresented = AnswerTimes()

    /// The statistics of nothing.
    package init() {}
}
