/// A verification of an audit log and of the alerts of its queue.
///
/// A store adds the entries of the log in their order, and then, for each alert in the order of
/// their ids, the faults that its ``AlertTrail`` finds. Entries and alerts are values: the rules
/// are the same in every store.
///
/// Between the entries of the log it checks the chain, the numbers, restores and erasures; what an
/// entry says about a single alert is compared with the alert by its trail.
package struct AuditVerifier: Sendable {
    /// What was found so far; complete after ``end()``.
    package private(set) var report = AuditReport()
    /// The last entry that was added.
    private var head = AuditHead.start
    private let expected: AuditHead?
    private var hasSeenExpected = false
    /// The entries that were changed: what they say about alerts is no other problem.
    private var changed: Set<Int64> = []
    /// The ids of the alerts.
    package private(set) var alerts = GivenNumbers()
    /// The last restore, and the last one that has named something as wrong before it.
    private var (lastRestore, namingRestore): (Int64, Int64) = (0, 0)
    /// What they have named, with the entry that names it.
    private var knownAlerts: [Alert.ID: Int64] = [:]
    private var knownEntries: [(list: NumberList, namedBy: Int64)] = []

    /// - Parameter head: A head that was saved earlier and must still be part of the log.
    package init(expecting head: AuditHead?) { expected = head }

    /// Checks the next entry.
    package mutating func add(_ next: LoggedEntry) {
        let (sequence, last) = (next.head.sequence, head)
        guard sequence > 0 else {
            // One that is never read could pass for a missing one.
            return report.report("entry \(sequence) comes before the first one", entry: sequence)
        }
        report.entries += 1
        head = next.head
        if head == expected { hasSeenExpected = true }
        let isNext = sequence == last.sequence.addingBounded(1)
        if !isNext {
            // Both ends: a restore that names them names the gap as it was then, and no longer one.
            for missing in Set([last.sequence.addingBounded(1), sequence - 1]).sorted() {
                report.report("entry \(missing) is missing", entry: missing)
            }
        }
        guard let entry = next.entry else {
            report.report("entry \(sequence) can't be understood", entry: sequence)
            return
        }
        let id = entry.event.alertID
        if !next.isIntact {
            report.report("entry \(sequence) was changed", entry: sequence, alert: id)
            if !report.isFull { changed.insert(sequence) }
        } else if isNext, entry.previous != last.hash {
            report.report(
                "entry \(sequence) does not continue entry \(last.sequence): one of them was "
                    + "replaced", entry: sequence, alert: id)
        }
        if next.isIntact, !entry.hasOwnDetail {
            report.report(
                "entry \(sequence) has a detail that no entry of its kind has", entry: sequence,
                alert: id)
        }
        switch entry.event.kind {
        case .asked: checkID(of: entry)
        case .restored where next.isIntact:
            guard let id else { return checkRestore(entry, after: last) }
            knownAlerts[id] = sequence
            namingRestore = lastRestore
        case .erased where next.isIntact: checkErasure(entry, next.erasures)
        case .presented, .returned, .snoozed, .claimed, .released, .cancelling, .resolved,
            .collected, .ran, .erased, .restored, .moved, .superseded, .clock, .other:
            break
        }
    }

    /// Adds what was found about alerts.
    package mutating func add(_ problems: [AuditReport.Problem]) {
        for problem in problems where !(problem.sequence.map(changed.contains) ?? false) {
            report.report(problem)
        }
    }

    /// Adds a fault of the queue as a whole.
    package mutating func add(_ fault: String) { report.report(fault) }

    /// Completes the report.
    package mutating func end() {
        report.head = head.sequence > 0 ? head : nil
        report.sort()
        report.separate(since: namingRestore, isKnown)
        // Nothing in the log excuses a saved head that it does not have.
        if let expected, !hasSeenExpected {
            report.report(
                head.sequence < expected.sequence
                    ? "the log ends at entry \(head.sequence), before the saved head "
                        + "\(expected.sequence): its tail was cut"
                    : "entry \(expected.sequence) is not the one of the saved head: "
                        + "the log was rewritten", entry: expected.sequence)
        }
        report.sort()
    }

    /// Whether a later entry of a restore names the problem.
    private func isKnown(_ problem: AuditReport.Problem) -> Bool {
        let sequence = problem.sequence ?? 0
        if let id = problem.alertID { return knownAlerts[id].map { sequence < $0 } ?? false }
        return knownEntries.contains { $0.list.contains(sequence) && sequence < $0.namedBy }
    }
}

// MARK: - Entries that say something about others

extension AuditVerifier {
    private mutating func checkID(of entry: AuditEntry) {
        guard let id = entry.event.alertID, !alerts.add(id) else { return }
        report.report(
            "alert \(id) was asked after a restore, which continued from a greater number",
            entry: entry.event.sequence, alert: id)
    }

    /// Compares the entry of a restore with the log so far, which is that of the backup.
    private mutating func checkRestore(_ entry: AuditEntry, after last: AuditHead) {
        let sequence = entry.event.sequence
        guard let restored = entry.restored else {
            // Another detail than a restore's is a fault of every entry.
            if entry.detail == nil {
                report.report("entry \(sequence) does not say what was restored", entry: sequence)
            }
            return
        }
        lastRestore = sequence
        if let problems = restored.problems {
            knownEntries.append((problems, sequence))
            namingRestore = sequence
        }
        if restored.backup != last {
            report.report(
                "entry \(sequence) restored a backup that ends at entry "
                    + "\(restored.backup.sequence), which is not the one before it",
                entry: sequence)
        }
        let jump = restored.replaced == .timeline ? 0 : RestoredQueue.jump
        if !alerts.resume(from: restored.firstAlert, beyond: jump) {
            report.report(
                "entry \(sequence) restored a backup, but its next ids may have been given before",
                entry: sequence)
        }
    }

    /// Makes sure that the alerts whose texts an entry says were erased name that entry.
    private mutating func checkErasure(
        _ entry: AuditEntry, _ named: [LoggedEntry.Erasure]
    ) {
        let sequence = entry.event.sequence
        guard let alerts = entry.erasedAlerts else {
            if entry.detail == nil {
                report.report(
                    "entry \(sequence) does not say whose texts were erased", entry: sequence)
            }
            return
        }
        for alert in named where alert.sequence != sequence {
            report.report(
                "alert \(alert.id) does not name entry \(sequence), which says that its texts were "
                    + "erased", entry: sequence, alert: alert.id)
        }
        if alerts.count != named.count {
            report.report(
                "entry \(sequence) says that the texts of \(alerts.count) alerts were erased, but "
                    + "only \(named.count) of these exist", entry: sequence)
        }
    }
}

/// An entry of the log as a store has read it, with what belongs to it.
package struct LoggedEntry: Sendable {
    /// Its number and its hash as they are stored.
    package let head: AuditHead
    /// `nil` if it can't be understood.
    package let entry: AuditEntry?
    /// Whether its hash is that of its contents.
    package let isIntact: Bool
    /// For an erasure: the alerts that exist among those that it names.
    package var erasures: [Erasure] = []

    /// An alert, and the entry that it names as that of its erasure.
    package struct Erasure: Sendable {
        package let id: Alert.ID
        package let sequence: Int64?

        package init(id: Alert.ID, sequence: Int64?) {
            self.id = id
            self.sequence = sequence
        }
    }

    /// - Parameter input: Memory to reuse.
    package init(_ entry: AuditEntry, _ input: HashInput) {
        head = entry.event.cursor
        self.entry = entry
        isIntact = entry.hash(with: input) == entry.hash
    }

    /// An entry that can't be understood.
    package init(unreadable head: AuditHead) {
        self.head = head
        entry = nil
        isIntact = false
    }
}
