/// What a verification of the audit log found.
public struct AuditReport: Sendable, Codable {
    /// A discrepancy in the log, or between the log and the alerts.
    public struct Problem: Sendable, Hashable, Codable {
        /// The entry that is wrong, if the problem is in an entry.
        public let sequence: Int64?
        /// The alert that is affected, if there is one.
        public let alertID: Alert.ID?
        /// A sentence that says what is wrong.
        public let reason: String

        package init(sequence: Int64?, alertID: Alert.ID?, reason: String) {
            self.sequence = sequence
            self.alertID = alertID
            self.reason = reason
        }
    }

    /// How many entries were read.
    public package(set) var entries: Int64 = 0
    /// The end of the log; `nil` for an empty one.
    public package(set) var head: AuditHead?
    /// Up to 1,000 problems, oldest entry first; an empty array means that the log verifies.
    public package(set) var problems: [Problem] = []
    /// Problems that were known when a backup was restored in spite of them: they are about alerts
    /// and entries that the log names as such, and these alerts are never returned.
    public package(set) var known: [Problem] = []
    /// The entry of the last restore of that kind.
    public package(set) var knownSince: Int64?

    package init() {}

    package mutating func report(
        _ reason: String, entry sequence: Int64? = nil, alert id: Alert.ID? = nil
    ) {
        report(Problem(sequence: sequence, alertID: id, reason: reason))
    }

    mutating func report(_ problem: Problem) {
        if !isFull { problems.append(problem) }
    }

    /// Whether no more problems are reported.
    package var isFull: Bool { problems.count >= 1000 }

    /// Puts the problems of entries first, in the order of the log.
    mutating func sort() {
        problems.sort { ($0.sequence ?? .max) < ($1.sequence ?? .max) }
    }

    /// Sets the problems apart that are known since an entry.
    mutating func separate(since entry: Int64, _ isKnown: (Problem) -> Bool) {
        known = problems.filter(isKnown)
        knownSince = known.isEmpty ? nil : entry
        problems.removeAll(where: isKnown)
    }
}
