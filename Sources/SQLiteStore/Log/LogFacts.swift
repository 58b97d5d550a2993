import AlertCore
import SQLite

/// The facts that a stretch of the audit log records about the rows, in a compact form.
///
/// There is one bit per alert, or one sum over all: a sum of numbers that only this run can
/// compute, so that the sum over the entries equals that over the rows only if every single fact is
/// the same.
struct LogFacts: Sendable {
    var asked = BitSet()
    var resolved = BitSet()
    private(set) var erased = BitSet()
    private(set) var cancelling = BitSet()
    /// Alerts whose ask, or whose expiry or cancel, has the form of versions before schema 5.
    private var askedBefore = BitSet()
    private var endedBefore = BitSet()
    private var erasedBefore = BitSet()
    /// Alerts that appear in any entry.
    private var named = BitSet()
    private var collected = BitSet()
    /// Alerts that were collected before they had a response.
    private var collectedEarly = BitSet()
    /// Alerts for which a command was run before their responses were collected.
    private var ranEarly = BitSet()
    /// Alerts that were collected after their texts had been erased.
    private var collectedLate = BitSet()
    private var presented = BitSet()
    /// Alerts whose row has the time of the last entry so far that records a showing.
    private var presentedRightly = BitSet()
    /// Alerts that had never been seen, according to their expiry.
    private var unseen = BitSet()
    /// The details of the last snoozes of alerts that were not resolved afterwards.
    private var snoozes: [Int64: String] = [:]
    /// The numbers of the responses, which are consecutive except after a restore.
    private var responses = ResponseNumbers()
    /// The ids of the alerts, which jump at a restore.
    private var alerts = GivenNumbers()
    private var sum = MultisetHash()
    /// The last entry in the form of versions before schema 5, and the first one in the current
    /// form: none of the former may come after one of the latter.
    private var lastOlder: Int64 = 0
    private var firstNewer = Int64.max
    /// The contents that the indexes of the log must have.
    private var entries = MultisetHash()

    /// Adds an entry of an alert, which the index of the log must contain; `false` if no alert can
    /// have this number.
    mutating func addEntry(_ sequence: Int64, of id: Int64) -> Bool {
        entries.add(.entry, of: id, sequence)
        return id > 0 && (named.insert(id) || named.contains(id))
    }

    /// Adds an erasure; `false` if something in it was erased before.
    mutating func addErased(_ alerts: ErasedAlerts, sequence: Int64) -> Bool {
        entries.add(.erasure, of: sequence, 0)
        noteForm(isOlder: alerts.left == nil, sequence)
        for range in alerts.ranges {
            guard range.upperBound - range.lowerBound < BitSet.largest else { return false }
            for id in range {
                guard erased.insert(id) else { return false }
                if alerts.left != nil {
                    sum.add(.erasedSequence, of: id, sequence)
                } else {
                    _ = erasedBefore.insert(id)
                }
            }
        }
        return true
    }

    mutating func addAsked(_ id: Int64, isOlder: Bool, _ sequence: Int64) -> Bool {
        noteForm(isOlder: isOlder, sequence)
        return asked.insert(id) && alerts.add(id) && (!isOlder || askedBefore.insert(id))
    }

    /// Adds a restore; `false` if ids or numbers don't jump far enough.
    mutating func addRestored(_ restored: RestoredQueue) -> Bool {
        alerts.go(onFrom: restored.firstAlert)
            && responses.given.go(onFrom: restored.firstResponse)
    }

    private mutating func noteForm(isOlder: Bool, _ sequence: Int64) {
        if isOlder {
            lastOlder = max(lastOlder, sequence)
        } else {
            firstNewer = min(firstNewer, sequence)
        }
    }

    mutating func addPresented(_ id: Int64, isRight: Bool) {
        _ = presented.insert(id)
        if isRight { _ = presentedRightly.insert(id) } else { presentedRightly.remove(id) }
    }

    mutating func addSnoozed(_ id: Int64, detail: String?) -> Bool {
        guard let detail else { return false }
        snoozes[id] = detail
        sum.add(.snooze, of: id, 0)
        return true
    }

    mutating func addCancelling(_ id: Int64) -> Bool {
        cancelling.insert(id) || cancelling.contains(id)
    }

    /// - Parameter number: The response's own number, which follows that of the previous response.
    mutating func addResolved(
        _ id: Int64, number: Int64, isOlder: Bool, _ sequence: Int64
    ) -> Bool {
        guard resolved.insert(id), number > 0, number < .max else { return false }
        sum.add(.response, of: id, number)
        guard responses.add(number) else { return false }
        if !snoozes.isEmpty { snoozes[id] = nil }
        // Most ends have only one form.
        if isOlder { lastOlder = max(lastOlder, sequence) }
        return !isOlder || endedBefore.insert(id)
    }

    /// Adds an alert that was never on a screen according to its expiry; `false` if it was.
    mutating func addUnseen(_ id: Int64) -> Bool {
        unseen.insert(id) && !presented.contains(id)
    }

    mutating func addCollected(_ id: Int64, at milliseconds: Int64) {
        sum.add(.collected, of: id, milliseconds)
        _ = collected.insert(id)
        if erased.contains(id) { _ = collectedLate.insert(id) }
        if !resolved.contains(id) { _ = collectedEarly.insert(id) }
    }

    /// Adds an entry about a command; `false` if no alert can have this number.
    mutating func addRan(_ id: Int64) -> Bool {
        collected.contains(id) || ranEarly.insert(id) || ranEarly.contains(id)
    }

    /// Adds the facts of the next stretch; `false` if both have the same fact.
    mutating func merge(_ next: LogFacts) -> Bool {
        askedBefore.formUnion(next.askedBefore)
        endedBefore.formUnion(next.endedBefore)
        erasedBefore.formUnion(next.erasedBefore)
        cancelling.formUnion(next.cancelling)
        lastOlder = max(lastOlder, next.lastOlder)
        firstNewer = min(firstNewer, next.firstNewer)
        named.formUnion(next.named)
        var ranEarly = next.ranEarly
        ranEarly.subtract(collected)
        self.ranEarly.formUnion(ranEarly)
        collected.formUnion(next.collected)
        var early = next.collectedEarly
        early.subtract(resolved)
        collectedEarly.formUnion(early)
        collectedLate.formUnion(next.collectedLate)
        collectedLate.formUnion(erased.intersection(next.collected))
        guard presented.intersection(next.unseen).count == 0 else { return false }
        unseen.formUnion(next.unseen)
        presentedRightly.subtract(next.presented)
        presentedRightly.formUnion(next.presentedRightly)
        presented.formUnion(next.presented)
        snoozes = snoozes.filter { !next.resolved.contains($0.key) }
        snoozes.merge(next.snoozes) { $1 }
        sum.add(next.sum)
        entries.add(next.entries)
        guard responses.merge(next.responses), alerts.merge(next.alerts) else { return false }
        return asked.merge(next.asked) && resolved.merge(next.resolved)
            && erased.merge(next.erased)
    }
}

extension LogFacts {
    private enum Alerts: Int, ColumnList {
        case id, state, isErased, presentedMs, snoozes, snoozedMs, snoozedBootMs, snoozedBoot
        case cancelRequested, erasedSeq, sourceId, account

        var sql: String { self == .isErased ? "salt IS NULL" : snakeCased }
    }

    private enum Responses: Int, ColumnList {
        case alertId, collectedMs, seq, handler, isWithdrawn

        var sql: String { self == .isWithdrawn ? "outcome = 'withdrawn'" : snakeCased }
    }

    /// Whether there are no other alerts and responses than these, and each is in the state that
    /// the log records.
    func isEverything(in db: Database, at now: ClockReading) throws -> Bool {
        var found = MultisetHash()
        var pending = PendingCounts()
        var (isRight, alerts) = (true, 0)
        try db.visit("SELECT \(Alerts.list) FROM alerts NOT INDEXED", []) { row in
            alerts += 1
            isRight = isAsLogged(row, at: now, &found, &pending)
            return isRight
        }
        guard isRight, alerts == asked.count else { return false }
        var (count, indexed, last): (Int64, MultisetHash, Int64) = (0, entries, 0)
        try db.visit(
            "SELECT \(Responses.list) FROM responses NOT INDEXED ORDER BY seq", []
        ) { row in
            let (id, number) = (row.integer(Responses.alertId), row.integer(Responses.seq))
            let collected = row.optionalInteger(Responses.collectedMs)
            count += 1
            found.add(.response, of: id, number)
            indexed.add(.indexedResponse, of: id, number)
            if erased.contains(id), collected == nil || collectedLate.contains(id),
                !askedBefore.contains(id), try awaitsCollection(row, db)
            {
                isRight = false
                return false
            }
            if let collected {
                found.add(.collected, of: id, collected)
            } else if !row.isNull(Responses.handler) {
                indexed.add(.handler, of: row.raw(Responses.handler).bytesHash, number)
            }
            // The sum shows that these are the numbers in the entries.
            isRight = resolved.contains(id) && number > last
            last = number
            return isRight
        }
        guard isRight, count == Int64(resolved.count), found == sum,
            responses.beginsAtOne, endedBefore.isSubset(of: askedBefore),
            erasedBefore.isSubset(of: askedBefore), named.isSubset(of: asked),
            collectedEarly.count == 0, ranEarly.count == 0, lastOlder < firstNewer
        else { return false }
        let stray = try db.first("SELECT 1 FROM audit NOT INDEXED WHERE seq < 1") { _ in true }
        guard stray == nil, try pending.differences(from: db).isEmpty else { return false }
        let faults = try db.numberingFaults(alerts: self.alerts, responses: responses.given)
        return try faults.isEmpty && db.indexSum() == indexed
    }

    /// Whether a response still had to be collected when its alert's texts were erased.
    private func awaitsCollection(_ row: borrowing Row, _ db: Database) throws -> Bool {
        guard row.isNull(Responses.handler) else { return true }
        guard row.integer(Responses.isWithdrawn) == 0 else { return false }
        return try db.first(
            "SELECT buttons <> '[]' FROM alerts NOT INDEXED WHERE id = ?",
            .integer(row.integer(Responses.alertId))
        ) { $0.integer() == 1 } ?? true
    }

    private func isAsLogged(
        _ row: borrowing Row, at now: ClockReading, _ found: inout MultisetHash,
        _ pending: inout PendingCounts
    ) -> Bool {
        let id = row.integer(Alerts.id)
        let isResolved = resolved.contains(id)
        guard asked.contains(id), row.holds(Alerts.state, isResolved ? "resolved" : "queued"),
            (row.integer(Alerts.isErased) == 1) == erased.contains(id),
            row.isNull(Alerts.presentedMs) != presented.contains(id),
            row.isNull(Alerts.presentedMs) || presentedRightly.contains(id),
            isCancelRight(id, isRequested: row.integer(Alerts.cancelRequested) != 0)
        else { return false }
        if let sequence = row.optionalInteger(Alerts.erasedSeq) {
            found.add(.erasedSequence, of: id, sequence)
        }
        if !isResolved {
            pending.count(
                row.integer(Alerts.sourceId), account: row.optionalInteger(Alerts.account))
        }
        let count = row.integer(Alerts.snoozes)
        guard (0...Int64(Int32.max)).contains(count) else { return false }
        if count != 0 { found.add(.snooze, of: id, 0, times: count) }
        let isSnoozed =
            !(row.isNull(Alerts.snoozedMs) && row.isNull(Alerts.snoozedBootMs)
            && row.isNull(Alerts.snoozedBoot))
        guard isSnoozed || (count != 0 && !isResolved) else { return true }
        return isSnoozeRight(row, at: now)
    }

    private func isCancelRight(_ id: Int64, isRequested: Bool) -> Bool {
        // A mark by older versions has no entry and is ignored.
        isRequested == cancelling.contains(id) || (isRequested && askedBefore.contains(id))
    }

    /// Whether an alert's snooze is that of its last snooze entry, or may be over.
    private func isSnoozeRight(_ row: borrowing Row, at now: ClockReading) -> Bool {
        guard let logged = snoozes[row.integer(Alerts.id)] else { return false }
        guard !row.isNull(Alerts.snoozedMs) else {
            return row.isNull(Alerts.snoozedBootMs) && row.isNull(Alerts.snoozedBoot)
                && EntryDetail.mayHaveEnded(snooze: logged, at: now)
        }
        guard !row.isNull(Alerts.snoozedBootMs), !row.isNull(Alerts.snoozedBoot) else {
            return false
        }
        return EntryDetail.isSnoozed(
            logged,
            until: ClockReading(
                wallMilliseconds: row.integer(Alerts.snoozedMs),
                bootMilliseconds: row.integer(Alerts.snoozedBootMs),
                boot: row.text(Alerts.snoozedBoot)))
    }
}

extension Row {
    /// Whether a column holds this text.
    func holds(_ column: some ColumnList, _ text: StaticString) -> Bool {
        let value = raw(column)
        return value.kind == .text
            && value.holds(
                UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension RawColumn {
    /// A hash of the bytes, valid in this process; texts that only look alike differ.
    var bytesHash: Int64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return Int64(hasher.finalize())
    }
}
