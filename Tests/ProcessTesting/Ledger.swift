import Synchronization

/// What processes were told, written down outside of the database.
///
/// What stands here was acknowledged: an id that an asker printed, a button whose storing a
/// process confirmed. Nothing of it may be missing or different afterwards.
package final class Ledger: Sendable {
    package struct Entries: Sendable {
        /// Titles by the ids that their askers were given.
        package var asked: [Int: String] = [:]
        /// Buttons by the ids of the alerts for which they were confirmed.
        package var answered: [Int: String] = [:]
        /// Confirmations of a second, different button for one alert: there must be none.
        package var contradictions: [String] = []
        /// Processes that were killed before they ended by themselves.
        package var kills = 0
    }

    private let entries = Mutex(Entries())

    package init() {}

    package var all: Entries { entries.withLock { $0 } }

    package func noteKill() {
        entries.withLock { $0.kills += 1 }
    }

    package func note(ask id: Int, title: String) {
        entries.withLock { entries in
            if let known = entries.asked.updateValue(title, forKey: id), known != title {
                entries.contradictions.append("alert \(id): asked as \(known) and as \(title)")
            }
        }
    }

    package func note(answer button: String, to id: Int) {
        entries.withLock { entries in
            if let known = entries.answered.updateValue(button, forKey: id), known != button {
                entries.contradictions.append("alert \(id): answered \(known) and \(button)")
            }
        }
    }
}
