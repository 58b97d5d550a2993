import AlertCore
import Glibc
import SQLite

/// A verification of a stretch of the audit log that only says "all is well" or "look again".
///
/// ``AuditCheck`` is the careful one, and only it reports problems. This one uses the bytes in
/// SQLite's memory, creates no records, and gives up at the first thing that is not clearly right.
/// So it can err in one direction only, and the tests of forged logs cover it as well: it runs
/// first.
/// first.
///Gain: verifying a million entries takes 0.25 times the CPU time and, in stretches, 0.19 times as
///long (`alertq-bench verify`; against the careful check alone).
/// the time (`alertq-bench verify`; against the careful check alone).
final class QuickAuditCheck {
    static let pageLength: Int64 = 1000

    /// The last entry that was found to be correct.
    private(set) var head: AuditHead
    private(set) var seen = LogFacts()
    private let input = HashInput()
    private let contents = AlertContents()
    private let responses: ResponseContents
    /// The hash of the previous entry, at 0, and the one that has just been computed, at 32.
    private let hashes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
    private var sequence: Int64

    init(after head: AuditHead) {
        self.head = head
        sequence = head.sequence
        responses = ResponseContents(known: contents.known)
        hashes.copyBytes(from: head.hash.prefix(SHA256.byteCount))
    }

    deinit {
        hashes.deallocate()
    }

    /// Checks the next entries, up to a number; returns whether they are correct.
    func readPage(_ db: Database, through last: Int64) throws -> Bool {
        let end = min(last, sequence + Self.pageLength)
        // The next page may be read from a newer state of the database.
        contents.forgetHashes()
        var isRight = true
        try db.forEach(
            """
            SELECT \(AuditRow.columns) FROM audit NOT INDEXED
            WHERE seq > ? AND seq <= ? ORDER BY seq
            """, [.integer(sequence), .integer(end)]
        ) { row in
            if isRight { isRight = try accepts(row, db) }
        }
        head = AuditHead(sequence: sequence, hash: Array(hashes[..<SHA256.byteCount]))
        return isRight && sequence == end
    }

    private func accepts(_ row: borrowing Row, _ db: Database) throws -> Bool {
        guard row.integer(Entry.seq) == sequence + 1, let event = Self.event(row.raw(Entry.event))
        else { return false }
        input.begin(Self.kind)
        for (column, form) in Self.forms {
            guard add(row.raw(column), form) else { return false }
        }
        guard input.isValidText else { return false }
        let computed = UnsafeMutableRawBufferPointer(rebasing: hashes[32...])
        input.hash(into: computed)
        guard row.raw(Entry.previous).holds(UnsafeRawBufferPointer(rebasing: hashes[..<32])),
            row.raw(Entry.hash).holds(UnsafeRawBufferPointer(computed))
        else { return false }
        hashes.copyMemory(from: UnsafeRawBufferPointer(computed))
        sequence += 1
        do {
            return try agrees(event, row, db)
        } catch is AlertContents.Unusual {
            return false
        }
    }

    /// Adds a column's bytes, if its value has the expected form.
    private func add(_ value: RawColumn, _ form: Form) -> Bool {
        switch (form, value.kind) {
        case (.optionalText, .null), (.optionalNumber, .null), (.optionalBytes, .null),
            (.word, .null):
            input.absent()
        case (.number(let range), .integer), (.optionalNumber(let range), .integer):
            guard range.contains(value.integer) else { return false }
            input.number(value.integer)
        case (.word(let known), .text):
            guard known.contains(where: { $0.withUnsafeBytes(value.holds) }) else { return false }
            input.text(value.bytes)
        case (.text, .text), (.optionalText, .text):
            input.text(value.bytes)
        case (.bytes, .blob), (.optionalBytes, .blob):
            guard value.bytes.count == SHA256.byteCount else { return false }
            input.hex(value.bytes)
        default: return false
        }
        return true
    }

    /// Whether the rows agree with the entry.
    private func agrees(
        _ event: AlertEvent.Kind, _ row: borrowing Row, _ db: Database
    ) throws -> Bool {
        if event == .erased {
            guard row.isNull(Entry.alertId),
                let alerts = ErasedAlerts(detail: row.optionalText(Entry.detail)),
                seen.addErased(alerts, sequence: sequence)
            else { return false }
            return try alerts.left.map { try db.leftHash(of: alerts) == $0 } ?? true
        }
        if event == .restored {
            guard row.isNull(Entry.alertId),
                let restored = RestoredQueue(detail: row.optionalText(Entry.detail)),
                restored.backup.sequence == sequence - 1,
                restored.backup.hash.withUnsafeBytes(row.raw(Entry.previous).holds)
            else { return false }
            return seen.addRestored(restored)
        }
        let alert = row.raw(Entry.alertId)
        if alert.kind == .integer, !seen.addEntry(sequence, of: alert.integer) { return false }
        // This concerns the whole queue.
        if event == .access { return true }
        guard alert.kind == .integer else { return false }
        let id = alert.integer
        switch event {
        case .asked:
            guard try contents.isAsked(id, row, db) else { return false }
            return seen.addAsked(id, isOlder: contents.isOlder, sequence)
        case .presented:
            guard try contents.isShown(id, row, db) else { return false }
            seen.addPresented(id, isRight: contents.presented == row.integer(Entry.atMs))
            return true
        case .snoozed:
            return try contents.isShown(id, row, db)
                && seen.addSnoozed(id, detail: row.optionalText(Entry.detail))
        case .cancelling:
            return seen.addCancelling(id)
        case .resolved:
            guard try contents.isShown(id, row, db),
                let response = try responses.response(of: id, row, db)
            else { return false }
            return seen.addResolved(
                id, number: response.number, isOlder: response.isOlder, sequence)
                && (!response.isUnseen || seen.addUnseen(id))
        case .collected:
            seen.addCollected(id, at: row.integer(Entry.atMs))
            return true
        case .ran:
            guard seen.addRan(id) else { return false }
            return try row.isNull(Entry.content) || contents.isShown(id, row, db)
        case .returned, .access, .reminded, .seen:
            return true
        case .erased, .restored:
            // Handled above, because they concern no alert.
            return false
        }
    }
}

// MARK: - Permitted column values

extension QuickAuditCheck {
    private typealias Entry = AuditRow.Column

    private enum Form {
        case text
        case optionalText
        case word([[UInt8]])
        case number(ClosedRange<Int64>)
        case optionalNumber(ClosedRange<Int64>)
        case bytes
        case optionalBytes
    }

    private static let kind = Array("alertq-audit-1".utf8)
    /// Times that a `Date` represents to the millisecond.
    private static let times = -(Int64(1) << 52)...(Int64(1) << 52)
    private static let uids = Int64(0)...Int64(UInt32.max)
    private static let all = Int64.min...Int64.max

    /// The columns that are hashed, in this order, and their permitted values.
    private static let forms: [(Entry, Form)] = [
        (.seq, .number(1...Int64.max)), (.atMs, .number(times)), (.event, .text),
        (.alertId, .optionalNumber(all)), (.source, .optionalText),
        (.outcome, .word(words(Outcome.self))), (.buttonIndex, .optionalNumber(all)),
        (.buttonRole, .word(words(Alert.Button.Role.self))),
        (.resolvedBy, .word(words(ResolvedBy.self))), (.uid, .number(uids)),
        (.user, .optionalText), (.loginUid, .optionalNumber(uids)),
        (.session, .optionalNumber(uids)), (.via, .text), (.tty, .optionalText),
        (.ssh, .optionalText), (.host, .text),
        (.pid, .number(Int64(Int32.min)...Int64(Int32.max))), (.content, .optionalBytes),
        (.detail, .optionalText), (.previous, .bytes),
    ]

    private static let events = AlertEvent.Kind.allCases.map { (Array($0.rawValue.utf8), $0) }

    private static func event(_ value: RawColumn) -> AlertEvent.Kind? {
        guard value.kind == .text else { return nil }
        return events.first { $0.0.withUnsafeBytes(value.holds) }?.1
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(
        _ type: Word.Type
    ) -> [[UInt8]] {
        Word.allCases.map { Array($0.rawValue.utf8) }
    }
}
