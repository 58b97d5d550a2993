import FoundationEssentials

/// What became of the alerts asked in some period, and how long people took to answer.
public struct AlertStatistics: Sendable, Codable {
    /// How many alerts were asked, and how many of them ended in each way.
    public struct Counts: Sendable, Hashable, Codable {
        /// All of them.
        public internal(set) var asked = 0
        /// How many have ended in each way; an absent outcome has not occurred.
        public internal(set) var outcomes: [Outcome: Int] = [:]

        /// How many of the expired ones had never been on a screen.
        public internal(set) var unseen = 0

        /// How many are still waiting.
        public var waiting: Int { asked - outcomes.values.reduce(0, +) }

        package mutating func add(_ other: Counts) {
            asked += other.asked
            unseen += other.unseen
            outcomes.merge(other.outcomes, uniquingKeysWith: +)
        }
    }

    /// The counts for one source, button or person.
    public struct Group: Sendable, Hashable, Codable {
        /// The name of a source or of an account, or the id of a button; `#0` and so on for buttons
        /// whose ids have been erased.
        public let name: String
        /// The alerts asked by the source, ended with the button, or answered by the person.
        public let counts: Counts
        /// How long people took to answer those; of a button, nothing.
        public let answers: AnswerTimes.Summary
    }

    /// The counts for what was asked on one day.
    public struct Day: Sendable, Hashable, Codable {
        /// When it begins.
        public let start: Date
        /// When it ends, exclusive.
        public let end: Date
        /// What became of the alerts asked then.
        public let counts: Counts
        /// How long people took to answer those.
        public let answers: AnswerTimes.Summary
    }

    /// How many different sources, buttons and persons are counted separately.
    static let groupLimit = 1000

    /// All alerts.
    public internal(set) var total = Counts()
    /// How many responses nobody has collected, by how the alerts ended; an absent outcome has none.
    public internal(set) var uncollected: [Outcome: Int] = [:]
    /// The counts of each source, most asked first; at most 1,000 sources.
    public internal(set) var sources: [Group] = []
    /// The counts of each button, most chosen first; at most 1,000 ids.
    ///
    /// The outcome distinguishes a choice (``Outcome/answered``) from a default that was applied
    /// (``Outcome/expired``) and a simulated cancel (``Outcome/cancelled``).
    public internal(set) var buttons: [Group] = []
    /// The persons who answered, those with most answers first; at most 1,000.
    public internal(set) var users: [Group] = []
    /// The days that were asked for, in order.
    public internal(set) var days: [Day] = []
    /// When the oldest waiting alert was asked; `nil` if none is waiting.
    public internal(set) var oldestWaiting: Date?
    /// How long people took from the moment of asking to their answer.
    public internal(set) var timeFromAsked = AnswerTimes()
    /// How long people took from the alert's last appearance on a screen, if it had one.
    public internal(set) var timeFromPresented = AnswerTimes()

    /// The statistics of no alerts.
    package init() {}
}
