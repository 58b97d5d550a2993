@testable import QueueClient

/// The observations of operations that changed nothing.
extension ModelCheck {
    /// The moment at which an alert was in the returned state.
    func saw(_ one: Played, _ id: Int64) -> Moment {
        guard let story = log.stories[id] else { return .violation("an alert that does not exist") }
        guard one.told.outcome != nil else {
            guard one.told.state == "queued" else { return .violation("no outcome") }
            if isPast(id, surely: one.invoked) { return .violation("waits after its deadline") }
            let waiting = story.waiting(log.end)
            return .saw(
                { position in
                    waiting.contains(position)
                        && story.snoozed.count { $0 <= position } == one.told.snoozes
                }, from: story.asked)
        }
        if let resolved = story.resolved, isEnd(one.told, log.entries[resolved - 1]) {
            let isExpiry = one.told.outcome == "expired"
            return .saw(
                { position in
                    let isCollected = story.collected.map { $0 <= position } ?? false
                    let snoozes = story.snoozed.count { $0 <= position }
                    // An expiry may be returned before it is stored, and a snooze, which began before
                    // the deadline, still be stored before it.
                    return (position >= resolved || isExpiry)
                        && isCollected == one.told.isCollected
                        && one.told.snoozes ?? snoozes == snoozes
                }, from: isExpiry && isPast(id, perhaps: one) ? story.asked : resolved)
        }
        return one.told.outcome == "expired"
            ? sawExpiry(one, id) : .violation("returned a response that is not in the log")
    }

    func sawKey(_ one: Played) -> Moment {
        guard let id = one.told.id, log.keys[one.key ?? ""] == id else {
            return .violation("returned an alert other than the key's")
        }
        if one.verb != .lookUp, log.stories[id]?.isOther != (one.verb == .conflict) {
            return .violation("joined a question with another content")
        }
        return saw(one, id)
    }

    /// The moment at which a deadline had passed, whether or not the expiry was stored.
    func sawExpiry(_ one: Played, _ id: Int64) -> Moment {
        guard let story = log.stories[id], isPast(id, perhaps: one) else {
            return .violation("expired before its deadline")
        }
        let isStored = story.resolved.map { log.entries[$0 - 1].outcome == "expired" } ?? true
        let waiting = story.waiting(log.end)
        return .saw(
            { position in position >= story.asked && (isStored || waiting.contains(position)) },
            from: story.asked)
    }

    /// The moment at which exactly the listed alerts waited.
    func sawList(_ one: Played) -> Moment {
        let ids = (one.told.ids ?? []).map(abs)
        guard Set(ids).count == ids.count else { return .violation("listed twice") }
        // Snoozed alerts come last, and the others in the order of asking.
        let ready = (one.told.ids ?? []).prefix { $0 > 0 }
        guard Array(ready) == ready.sorted(), ids.dropFirst(ready.count).allSatisfy({ $0 > 0 }),
            (one.told.ids ?? []).dropFirst(ready.count).allSatisfy({ $0 < 0 })
        else { return .violation("listed in another order") }
        let stories = ids.map { log.stories[$0] }
        guard !stories.contains(where: { $0 == nil }) else {
            return .violation("listed an alert that does not exist")
        }
        let ranges = stories.compactMap { $0?.waiting(log.end) }
        let listed = Set(ids)
        return .saw(
            { [log] position in
                guard ranges.allSatisfy({ $0.contains(position) }) else { return false }
                let missing = log.pending[position] - ids.count
                // A list has at most 1,000 alerts.
                if missing <= 0 || ids.count == 1000 { return missing >= 0 }
                return missing <= overdue(at: position, for: one, except: listed)
            }, from: ranges.map(\.lowerBound).max() ?? 0)
    }

    /// The moment at which the returned number of alerts waited.
    func sawCount(_ one: Played) -> Moment {
        let count = Int(one.told.count ?? -1)
        return .saw(
            { [log] position in
                let missing = log.pending[position] - count
                guard missing > 0 else { return missing == 0 }
                return missing <= overdue(at: position, for: one, except: [])
            }, from: 0)
    }

    /// How many waiting alerts may be overdue: these are neither listed nor counted, and their
    /// expiry may not be stored yet.
    private func overdue(at position: Int, for one: Played, except listed: Set<Int64>) -> Int {
        log.withDeadline.count { id in
            log.stories[id]?.waiting(log.end).contains(position) == true
                && !listed.contains(id) && isPast(id, perhaps: one)
        }
    }

    private func isEnd(_ told: Played.Told, _ entry: ModelLog.Entry) -> Bool {
        // An expiry has no responder, no matter which process stored it.
        told.outcome == entry.outcome && told.index == entry.index
            && (told.outcome == "expired" ? told.pid == nil : told.pid == entry.pid)
    }

    /// Whether an alert's deadline had certainly passed at a moment.
    func isPast(_ id: Int64, surely moment: Int64) -> Bool {
        guard let (asker, timeout) = deadline(id), let returned = asker.returned else {
            return false
        }
        return moment > returned + (timeout + 1) * 1_000_000
    }

    /// Whether an alert's deadline may have passed when an operation returned.
    func isPast(_ id: Int64, perhaps one: Played) -> Bool {
        guard let (asker, timeout) = deadline(id) else {
            // The asker was killed: only the log knows the deadline.
            return log.stories[id]?.expires != nil
        }
        return (one.returned ?? .max) >= asker.invoked + (timeout - 1) * 1_000_000
    }

    private func deadline(_ id: Int64) -> (Played, timeout: Int64)? {
        guard let asker = asker(of: id), let timeout = asker.timeout else { return nil }
        return (asker, timeout)
    }
}
