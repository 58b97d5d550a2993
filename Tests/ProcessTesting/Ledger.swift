import Foundation
import Synchronization

/// What was acknowledged to processes, recorded outside the database.
///
/// Its entries were acknowledged: an id that an asker printed, a button whose storing was confirmed
/// to a process. None of them may be missing or different afterwards.
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

    private let entries: Mutex<Entries>

    /// A ledger that continues from the entries of another one.
    package init(_ entries: Entries = Entries()) {
        self.entries = Mutex(entries)
    }

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

    /// Notes what the command's `--json` lines say; half a line at the end is ignored.
    package func note(lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            guard
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)),
                let alert = object as? [String: Any], let id = alert["id"] as? Int,
                let title = alert["title"] as? String
            else { continue }
            note(ask: id, title: title)
            if alert["outcome"] as? String == "answered", let button = alert["button"] as? String {
                note(answer: button, to: id)
            }
        }
    }
}
