import FoundationEssentials

extension Alert {
    /// The moment after which a question can no longer be answered; not after the year 9999, in UTC.
    public enum Deadline: Sendable, Hashable, Codable {
        /// A duration from the moment of asking, unaffected by changes of the wall clock if the
        /// process can read the boot's id (`/proc/sys/kernel/random/boot_id`): more than zero, and
        /// at most 100 years.
        case after(Duration)
        /// A date on the wall clock, even if that clock is set in the meantime: in the future, at
        /// most 100 years away.
        case at(Date)
    }
}
