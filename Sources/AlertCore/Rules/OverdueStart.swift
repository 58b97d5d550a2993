import Synchronization

/// How many overdue alerts a process leaves out when it looks for expiries to store.
///
/// An alert that the log contradicts stays overdue, because its expiry can't be stored. Each look
/// examines a thousand alerts at most, and one that finds none to store moves the next look on. So
/// looks are short however many such alerts there are, and reach all the others in turn.
package final class OverdueStart: Sendable {
    /// How many alerts a look examines.
    package static let examined = 1000

    private let start = Mutex(0)

    package init() {}

    package var count: Int { start.withLock { $0 } }

    /// Notes that a look has examined some alerts, and whether the expiry of any can be stored: if
    /// not, the next look goes on after them, or at the beginning if these were the last ones.
    package func note(examined count: Int, canStore: Bool) {
        guard !canStore else { return }
        start.withLock { start in start = count == Self.examined ? start + count : 0 }
    }
}
