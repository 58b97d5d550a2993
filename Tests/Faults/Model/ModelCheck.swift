@testable import QueueClient

/// Checks the results that clients got against the model: whether all operations can have happened
/// in the order of the log, each at one moment between its invocation and its return.
///
/// Every change has its entry, so the log is the order of all changes, and each operation that
/// changed something has its position in it. An operation that only read needs a position at which
/// the model gives its result. Each takes the earliest position that is possible after all
/// operations that had returned before; if that fails, no other choice would succeed. See Herlihy
/// and Wing, *Linearizability* (1990).
struct ModelCheck {
    /// When an operation can have happened.
    enum Moment {
        /// It wrote the entry at a position.
        case wrote(Int)
        /// It read the state at a position for which this is true.
        case saw((Int) -> Bool, from: Int)
        /// It was refused because the queue was busy, or its client died: nothing is known. An
        /// entry for which a living client got no receipt is still a violation.
        case unknown
        case violation(String)
    }

    let log: ModelLog
    let played: [Played]
    private(set) var violations: [String]
    private var owners: [Int: Int] = [:]
    private var askers: [Int64: Int] = [:]

    init(_ log: ModelLog, _ played: [Played]) {
        self.log = log
        self.played = played
        violations = log.violations
    }

    mutating func run() {
        findAskers()
        var moments = played.indices.map { moment(of: $0) }
        assignToTheDead(&moments)
        for (offset, entry) in log.entries.enumerated() where owners[offset + 1] == nil {
            // An expiry may be stored by any client.
            if entry.event == "resolved", entry.outcome == "expired" { continue }
            violations.append("entry \(offset + 1), \(entry.event), has no operation: \(entry)")
        }
        sweep(moments)
    }

    private mutating func fail(_ index: Int, _ reason: String) {
        violations.append("\(reason): \(played[index])")
    }

    /// The operation that asked an alert; `nil` if its client died before it returned.
    func asker(of id: Int64) -> Played? { askers[id].map { played[$0] } }

    private mutating func findAskers() {
        for (index, one) in played.enumerated() where one.told.isJoined == false {
            guard let id = one.told.id else { continue }
            if askers.updateValue(index, forKey: id) != nil {
                fail(index, "two operations were told that they had asked alert \(id)")
            }
        }
    }

    /// Assigns entries to killed clients, whose last operation may have been stored.
    private mutating func assignToTheDead(_ moments: inout [Moment]) {
        var dead: [Int32: Int] = [:]
        for (index, one) in played.enumerated() where one.returned == nil { dead[one.pid] = index }
        for (offset, entry) in log.entries.enumerated() where owners[offset + 1] == nil {
            guard let index = dead[entry.pid], isDeed(played[index], entry) else { continue }
            owners[offset + 1] = index
            moments[index] = .wrote(offset + 1)
        }
    }

    private func isDeed(_ one: Played, _ entry: ModelLog.Entry) -> Bool {
        switch one.verb {
        case .ask, .join, .conflict:
            guard entry.event == "asked", let story = log.stories[entry.alert] else { return false }
            return story.title == (one.verb == .ask ? one.title : one.key)
        case .answer: return entry.outcome == "answered" && entry.alert == one.id
        case .withdraw: return entry.outcome == "withdrawn" && entry.alert == one.id
        case .cancel: return entry.outcome == "cancelled" && entry.alert == one.id
        case .snooze: return entry.event == "snoozed" && entry.alert == one.id
        case .collect: return entry.event == "collected" && entry.alert == one.id
        default: return false
        }
    }
}

// MARK: - The order of time

extension ModelCheck {
    /// Goes through all invocations and returns in the order in which they happened.
    private mutating func sweep(_ moments: [Moment]) {
        /// For each position, when the last operation that wrote up to it was invoked.
        var begun = [Int64](repeating: .min, count: log.end)
        for (index, moment) in moments.enumerated() {
            if case .wrote(let position) = moment { begun[position] = played[index].invoked }
        }
        for position in begun.indices.dropFirst() {
            begun[position] = max(begun[position], begun[position - 1])
        }
        var turns: [(time: Int64, isReturn: Bool, index: Int)] = []
        for (index, one) in played.enumerated() {
            turns.append((one.invoked, false, index))
            if let returned = one.returned { turns.append((returned, true, index)) }
        }
        // An operation that begins at the instant at which another ends may have overlapped it.
        turns.sort { ($0.time, $0.isReturn ? 1 : 0) < ($1.time, $1.isReturn ? 1 : 0) }
        /// The last position that any returned operation implies, and its value at each invocation.
        var known = 0
        var knownBefore = [Int](repeating: 0, count: played.count)
        for (_, isReturn, index) in turns {
            if !isReturn {
                knownBefore[index] = known
                if case .wrote(let position) = moments[index], position <= known {
                    fail(index, "entry \(position) comes before position \(known), already known")
                }
            } else {
                let found = position(moments[index], index, knownBefore[index], begun)
                known = max(known, found ?? 0)
            }
        }
    }

    private mutating func position(
        _ moment: Moment, _ index: Int, _ known: Int, _ begun: [Int64]
    ) -> Int? {
        let returned = played[index].returned ?? .max
        switch moment {
        case .unknown: return nil
        case .violation(let reason):
            fail(index, reason)
            return nil
        case .wrote(let position):
            if begun[position] > returned { fail(index, "entry \(position) comes before its time") }
            return position
        case .saw(let holds, let first):
            var position = max(known, first)
            // No operation sees a change that begins after it returned.
            while position < log.end, begun[position] <= returned {
                if holds(position) { return position }
                position += 1
            }
            fail(index, "the result was true at no position from \(known) to \(position - 1)")
            return nil
        }
    }
}

// MARK: - The moment of an operation

extension ModelCheck {
    private mutating func moment(of index: Int) -> Moment {
        let one = played[index]
        guard one.returned != nil else { return .unknown }
        if let error = one.told.error { return refused(one, error) }
        switch one.verb {
        case .ask, .join, .conflict:
            if one.told.isJoined == true { return sawKey(one) }
            return wrote(index, one.told.id, \.asked) { story, _ in
                story.title == (one.verb == .ask ? one.title : one.key)
                    && story.key == one.key ?? "" && story.isOther == (one.verb == .conflict)
            }
        case .answer: return resolved(index, "answered", one.button == "yes" ? 0 : 1)
        case .withdraw: return resolved(index, "withdrawn", -1)
        case .cancel: return resolved(index, "cancelled", 1)
        case .snooze:
            let count = one.told.snoozes ?? 0
            let position = { (story: ModelLog.Story) in
                story.snoozed.dropFirst(max(0, count - 1)).first
            }
            return wrote(index, one.id, position) { _, _ in one.told.state == "queued" }
        case .collect: return collected(index)
        case .record: return saw(one, one.id)
        case .lookUp: return sawKey(one)
        case .count: return sawCount(one)
        case .list: return sawList(one)
        case .history:
            let ids = one.told.ids ?? []
            return .saw({ [log] in log.history(at: $0, limit: 20) == ids }, from: 0)
        case .head: return .saw({ $0 == Int(one.told.count ?? -1) }, from: Int(one.told.count ?? 0))
        case .verify: return .saw({ $0 == Int(one.told.count ?? -1) }, from: 0)
        case .mistake: return .violation("a button that does not exist was accepted")
        }
    }

    private mutating func wrote(
        _ index: Int, _ id: Int64?, _ position: (ModelLog.Story) -> Int?,
        _ agrees: (ModelLog.Story, ModelLog.Entry) -> Bool
    ) -> Moment {
        guard let id, let story = log.stories[id], let position = position(story), position > 0
        else { return .violation("acknowledged, but not in the log") }
        let entry = log.entries[position - 1]
        guard entry.pid == played[index].pid, agrees(story, entry) else {
            return .violation("acknowledged, but entry \(position) is another operation's")
        }
        guard owners.updateValue(index, forKey: position) == nil else {
            return .violation("two operations were told that they had written entry \(position)")
        }
        return .wrote(position)
    }

    private mutating func resolved(_ index: Int, _ outcome: String, _ button: Int) -> Moment {
        let one = played[index]
        guard one.told.outcome == outcome, one.told.index == button, one.told.pid == one.pid
        else { return .violation("returned a response other than its own") }
        if isPast(one.id, surely: one.invoked) { return .violation("accepted after the deadline") }
        return wrote(index, one.id, \.resolved) { _, entry in
            entry.outcome == outcome && entry.index == button
        }
    }

    private mutating func collected(_ index: Int) -> Moment {
        let one = played[index]
        guard let position = log.stories[one.id]?.collected else {
            return .violation("acknowledged, but not in the log")
        }
        let isOwn = log.entries[position - 1].pid == one.pid && owners[position] == nil
        if isOwn { return wrote(index, one.id, \.collected) { _, _ in true } }
        // A client that collects again succeeds, and changes nothing.
        return .saw({ $0 >= position }, from: position)
    }

    private func refused(_ one: Played, _ error: String) -> Moment {
        let story = log.stories[one.id]
        let waiting = story?.waiting(log.end)
        switch error {
        case "notFound":
            // An alert without a response can't be collected.
            let first = one.verb == .collect ? story?.resolved : story?.asked
            return .saw({ $0 < first ?? .max }, from: 0)
        case "keyNotFound":
            let asked = log.keys[one.key ?? ""].flatMap { log.stories[$0]?.asked }
            return .saw({ $0 < asked ?? .max }, from: 0)
        case "noSuchButton" where one.verb == .mistake:
            return .saw({ waiting?.contains($0) == true }, from: 0)
        case "alreadyResolved": return saw(one, one.id)
        case "late": return sawExpiry(one, one.id)
        case "keyConflict":
            guard let id = one.told.id, let story = log.stories[id], story.key == one.key,
                story.isOther != (one.verb == .conflict)
            else { return .violation("refused for another key, or for the same content") }
            return .saw({ $0 >= story.asked }, from: story.asked)
        case "busy", "unreachable": return .unknown
        default: return .violation("refused with \(error)")
        }
    }
}
