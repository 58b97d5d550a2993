import AlertCore
import FoundationEssentials
import SQLite

/// A verification of the audit log in progress, page by page.
///
/// It keeps the entries of each alert, some 130 bytes per alert, and so needs no index, which may
/// have been tampered with; it runs only if ``QuickAuditCheck`` has found a problem.
struct AuditCheck: Sendable {
    private static let pageLength = 1000

    var report = AuditReport()
    private(set) var previous = AuditHead.start
    let expected: AuditHead?
    private(set) var hasSeenExpected = false
    var stories: [Alert.ID: AlertTrail] = [:]
    private var resolvedCount: Int64 = 0
    /// The ids of the alerts and the numbers of the responses so far.
    private(set) var alerts = GivenNumbers()
    private(set) var responses = GivenNumbers()
    /// Whether the last restore made the numbers jump far enough.
    private var hasJumped = true
    /// The first entry in the current form, rather than that of versions before schema 5.
    private var firstNewer: Int64?

    init(expecting head: AuditHead?) {
        expected = head
    }

    /// Checks the next entries; returns whether they were the last.
    mutating func readPage(_ db: Database) throws -> Bool {
        var count = 0
        try db.forEach(
            """
            SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq > ? ORDER BY seq LIMIT ?
            """, [.integer(previous.sequence), .integer(Self.pageLength)]
        ) { row in
            count += 1
            try check(row, db)
        }
        return count < Self.pageLength
    }

    private mutating func check(_ row: borrowing Row, _ db: Database) throws {
        let sequence = row.integer(AuditRow.Column.seq)
        report.entries += 1
        let stored = AuditHead(sequence: sequence, hash: row.blob(AuditRow.Column.hash) ?? [])
        defer {
            previous = stored
            if stored == expected { hasSeenExpected = true }
        }
        if sequence != previous.sequence + 1 {
            let missing = previous.sequence + 1
            report.report("entry \(missing) is missing", entry: missing)
        }
        guard let entry = try? AuditRow.entry(row) else {
            report.report("entry \(sequence) can't be understood", entry: sequence)
            return
        }
        if let fault = formFault(of: entry) {
            report.report(fault, entry: sequence, alert: entry.event.alertID)
        }
        // A changed entry is recorded nevertheless: one fault should cause one problem.
        if entry.event.kind != .erased { note(entry) }
        if entry.computedHash != entry.hash {
            report.report(
                "entry \(sequence) was changed", entry: sequence, alert: entry.event.alertID)
        } else if sequence == previous.sequence + 1, entry.previous != previous.hash {
            report.report(
                "entry \(sequence) does not continue entry \(previous.sequence): "
                    + "one of them was replaced", entry: sequence, alert: entry.event.alertID)
        } else {
            try compare(entry, db)
        }
    }

    /// Why an entry's form is invalid: the older form can't follow an entry of the current form.
    private mutating func formFault(of entry: AuditEntry) -> String? {
        guard let isOlder = entry.isOlder else { return nil }
        let sequence = entry.event.sequence
        guard isOlder else {
            firstNewer = firstNewer ?? sequence
            return nil
        }
        return firstNewer.map {
            "entry \(sequence) is written as earlier versions did, but comes after entry \($0), "
                + "which is not"
        }
    }

    /// Compares an entry with the rows that it describes.
    private mutating func compare(_ entry: AuditEntry, _ db: Database) throws {
        let sequence = entry.event.sequence
        if entry.event.kind == .erased { return try compare(erasure: entry, db) }
        if entry.event.kind == .restored { return compare(restore: entry) }
        guard let id = entry.event.alertID else { return }
        switch entry.event.kind {
        case .asked, .presented, .snoozed, .resolved:
            guard let row = try? db.alert(id) else {
                report.report(
                    "alert \(id) of entry \(sequence) is gone or can't be understood",
                    entry: sequence, alert: id)
                return
            }
            try compare(entry, with: row, db)
        case .ran:
            guard let row = try? db.alert(id), let content = entry.content else { return }
            guard try content != askedContent(of: row, db) else { return }
            report.report(
                "entry \(sequence) ran a command for something other than alert \(id) asked",
                entry: sequence, alert: id)
        case .returned, .cancelling, .collected, .erased, .restored, .access, .reminded, .seen:
            break
        }
    }

    private mutating func note(_ entry: AuditEntry) {
        if entry.event.kind == .restored, let restored = RestoredQueue(detail: entry.detail) {
            let isFar = [
                alerts.go(onFrom: restored.firstAlert),
                responses.go(onFrom: restored.firstResponse),
            ]
            hasJumped = !isFar.contains(false)
        }
        guard let id = entry.event.alertID else { return }
        var story = stories[id] ?? AlertTrail()
        if let fault = story.repeats(entry) {
            report.report("alert \(id) \(fault)", entry: entry.event.sequence, alert: id)
        }
        if entry.event.kind == .asked, !alerts.add(id) {
            report.report(
                "alert \(id) was asked after a restore, which continued from a greater number",
                entry: entry.event.sequence, alert: id)
        }
        story.add(entry, resolvedBefore: resolvedCount, next: responses.next)
        stories[id] = story
        if entry.event.kind == .resolved {
            resolvedCount += 1
            _ = responses.add(responses.next)
        }
    }

    /// Compares the entry of a restore with the log so far, which is that of the backup.
    private mutating func compare(restore entry: AuditEntry) {
        let sequence = entry.event.sequence
        guard let restored = RestoredQueue(detail: entry.detail) else {
            report.report("entry \(sequence) does not say what was restored", entry: sequence)
            return
        }
        if restored.backup != previous {
            report.report(
                "entry \(sequence) restored a backup that ends at entry "
                    + "\(restored.backup.sequence), which is not the one before it",
                entry: sequence)
        }
        if !hasJumped {
            report.report(
                "entry \(sequence) restored a backup, but its next numbers may have been given "
                    + "before", entry: sequence)
        }
    }

    /// The hash of what was asked; if the texts are erased, the entry of the ask has it.
    private func askedContent(of row: AlertRow, _ db: Database) throws -> [UInt8]? {
        try row.content ?? db.content(ofEntry: stories[row.record.id]?.asked ?? 0)
    }

    private mutating func compare(
        _ entry: AuditEntry, with row: AlertRow, _ db: Database
    ) throws {
        let (sequence, id) = (entry.event.sequence, row.record.id)
        let report = { (reason: String, check: inout AuditCheck) in
            check.report.report(reason, entry: sequence, alert: id)
        }
        let content = try askedContent(of: row, db)
        let hasContent = entry.content != nil || row.salt != nil || entry.event.kind != .presented
        if content != entry.content, hasContent {
            report(
                "alert \(id) was changed: it is not what entry \(sequence) says was "
                    + "\(entry.event.kind.rawValue)", &self)
        } else if entry.event.kind == .asked, !entry.matches(row) {
            report(
                "alert \(id) was changed: its \(AuditEntry.askedParts) are not those of "
                    + "entry \(sequence)", &self)
        }
        guard entry.event.kind == .resolved else { return }
        guard let response = row.record.response, entry.matches(response) else {
            report("the response of alert \(id) is not the one of entry \(sequence)", &self)
            return
        }
        if !entry.matchesHandling(of: row, response) {
            report(
                "the response of alert \(id) differs from entry \(sequence) in whether its "
                    + "cancel was handled", &self)
        }
        guard response.outcome == .expired else { return }
        let expiry = entry.expiryCheck(of: row, response)
        if !expiry.isInTime {
            report(
                "alert \(id) expired with entry \(sequence) before its deadline had passed", &self)
        }
        if expiry.isUnseen, stories[id]?.wasShownBeforeEnd ?? false {
            report(
                "alert \(id) was shown, but entry \(sequence) says that it expired unseen", &self)
        }
    }

    private mutating func compare(erasure entry: AuditEntry, _ db: Database) throws {
        let sequence = entry.event.sequence
        guard let alerts = ErasedAlerts(detail: entry.detail) else {
            report.report(
                "entry \(sequence) does not say whose texts were erased", entry: sequence)
            return
        }
        for range in alerts.ranges {
            for id in range where !note(erasure: alerts, of: id, by: sequence) { break }
        }
        if let left = alerts.left, try db.leftHash(of: alerts) != left {
            report.report(
                "what is left of the alerts of entry \(sequence), whose texts were erased, was "
                    + "changed", entry: sequence)
        }
    }

    /// Records an erasure of one alert; returns whether there can be more.
    private mutating func note(
        erasure alerts: ErasedAlerts, of id: Alert.ID, by sequence: Int64
    ) -> Bool {
        guard var story = stories[id] else {
            report.report(
                "entry \(sequence) says that texts of alert \(id) were erased, which was never "
                    + "asked", entry: sequence, alert: id)
            // A range may name more alerts than can exist.
            return false
        }
        if story.erased > 0 {
            report.report(
                "alert \(id) was already erased by entry \(story.erased), and by entry \(sequence) "
                    + "again", entry: sequence, alert: id)
        }
        story.erased = sequence
        story.isErasureNamed = alerts.left != nil
        stories[id] = story
        return true
    }
}

extension AuditEntry {
    /// The parts of an asked alert that ``matches(_:)`` compares.
    static let askedParts = "source, time, deadline, timers, buttons or key"

    /// Whether a stored alert has what this entry recorded besides its content: source, time,
    /// deadline, timers, and what an erasure leaves.
    func matches(_ row: AlertRow) -> Bool {
        let source = row.record.source
        let isPlain = row.expiry.map { Timestamp.plain.contains($0.wallMilliseconds) } ?? true
        return isPlain && row.isDeadlineWhole && event.source.isIdentical(to: source.name)
            && event.responder.uid == source.uid && event.responder.pid == source.pid
            && event.responder.host.isIdentical(to: source.host)
            && Timestamp.milliseconds(event.at) == row.asked.wallMilliseconds
            && detail.isIdentical(
                to: EntryDetail.isOlder(asked: detail)
                    ? EntryDetail.askedBefore(expiry: row.expiry) : row.askedDetail(logged: detail))
    }

    /// Whether a stored response is the one that this entry recorded.
    package func matches(_ response: Response) -> Bool {
        guard event.outcome == response.outcome, event.buttonIndex == response.buttonIndex,
            event.by == response.by, buttonRole == response.button?.role,
            Timestamp.milliseconds(event.at) == Timestamp.milliseconds(response.resolvedAt)
        else { return false }
        // A timer is no responder; the entry then names the process that stored it.
        let isTimer =
            response.outcome == .expired
            || (response.outcome == .dismissed && response.by == .system)
        guard !isTimer else { return response.responder == nil }
        return response.responder?.isIdentical(to: event.responder) ?? false
    }

    /// Whether a response agrees with this entry on whether its cancel was handled.
    func matchesHandling(of row: AlertRow, _ response: Response) -> Bool {
        guard response.outcome == .cancelled else { return !row.isHandled }
        return EntryDetail.isHandled(detail).map { $0 == row.isHandled } ?? true
    }

    /// The check of the expiry that this entry records.
    func expiryCheck(of row: AlertRow, _ response: Response) -> ExpiryCheck {
        ExpiryCheck(
            detail: detail, wallMilliseconds: Timestamp.milliseconds(event.at), expiry: row.expiry,
            // The name of an erased button is erased, too.
            hasDefault: row.salt == nil
                ? response.buttonIndex >= 0 : row.record.alert.defaultButton != nil)
    }
}

extension Responder {
    fileprivate func isIdentical(to other: Responder) -> Bool {
        uid == other.uid && pid == other.pid && user.isIdentical(to: other.user)
            && via.isIdentical(to: other.via) && tty.isIdentical(to: other.tty)
            && ssh.isIdentical(to: other.ssh) && host.isIdentical(to: other.host)
    }
}

extension Database {
    /// The hash of a content, from an entry of the log.
    fileprivate func content(ofEntry sequence: Int64) throws -> [UInt8]? {
        try first(
            "SELECT content FROM audit NOT INDEXED WHERE seq = ?", .integer(sequence)
        ) { $0.blob() } ?? nil
    }
}
