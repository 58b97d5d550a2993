import FoundationEssentials

extension Alert {
    /// The moment after which a question can no longer be answered.
    public enum Deadline: Sendable, Hashable {
        /// A time from the moment of asking, which no change of the wall clock shortens: more
        /// than zero, and at most 100 years.
        case after(Duration)
        /// A date on the wall clock, which it follows when that is set: in the future, at most 100
        /// years away.
        case at(Date)
    }
}
