import AlertQueue
import FoundationEssentials

/// Which alerts a verb looks for; every condition that is given must hold.
struct AlertConditions: Sendable {
    var source: String?
    var key: String?
    var since: PastTime?
    var until: PastTime?
    var text: String?

    /// The conditions for responses, with the times as seen from a moment.
    func responses(now: Date) throws(UsageError) -> HistoryFilter {
        let (since, until) = try times(now: now)
        return HistoryFilter(source: source, key: key, since: since, until: until, text: text)
    }

    func times(now: Date) throws(UsageError) -> (since: Date?, until: Date?) {
        let since = try since?.date(now: now)
        return (since, try until?.date(now: now, after: since))
    }
}

extension Argument where Value == String {
    /// Words to look for, as ``SearchText`` reads them.
    static var searchWords: Argument {
        Argument("WORDS") { text throws(UsageError) in
            do {
                _ = try SearchText(text)
                return text
            } catch {
                throw UsageError("\(error)")
            }
        }
    }
}
