import AlertCore
import Glibc
import SQLite

/// Compares the rows of alerts and responses with entries of the audit log, byte by byte.
///
/// Part of ``QuickAuditCheck``: anything unusual counts as different.
final class AlertContents {
    let input = HashInput()
    let detail = HashInput()
    let known = ButtonCache()
    /// What an erasure leaves of the last alert, and its hash: most alerts without a key differ in
    /// nothing of that.
    var lastLeft: [UInt8] = []
    let lastLeaves = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SHA256.byteCount, alignment: 8)
    let digest = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SHA256.byteCount, alignment: 8)
    /// The content of recent alerts: an alert that was asked is mostly shown and answered soon.
    private let recent = UnsafeMutableRawBufferPointer.allocate(
        byteCount: recentCount * SHA256.byteCount, alignment: 8)
    private var recentIDs = [Int64](repeating: -1, count: recentCount)
    private var recentlyPresented = [Int64?](repeating: nil, count: recentCount)
    private static let recentCount = 1024

    // What else there is to know of the row that was looked at last.
    /// When it was shown last, as its row has it.
    private(set) var presented: Int64?
    /// The number of its response.
    private(set) var number: Int64 = 0
    /// Whether the entry of its expiry says that it was never on a screen.
    var isUnseen = false
    /// Whether its entry tells as little as those of versions before schema 5.
    var isOlder = false

    deinit {
        recent.deallocate()
        digest.deallocate()
        lastLeaves.deallocate()
    }

    func forgetHashes() {
        for slot in recentIDs.indices { recentIDs[slot] = -1 }
    }

    /// Whether an alert is what it was when it was asked.
    func isAsked(_ id: Int64, _ entry: borrowing Row, _ db: Database) throws -> Bool {
        try isContent(id, entry, db) { row, entry in
            guard row.raw(11).isSame(as: entry.raw(4)), row.raw(12).isSame(as: entry.raw(9)),
                row.raw(13).isSame(as: entry.raw(17)), row.raw(14).isSame(as: entry.raw(16)),
                row.raw(15).isSame(as: entry.raw(1))
            else { return false }
            guard try hasDetail(row, entry.raw(19)) else { return false }
            // Earlier versions may have written JSON in other ways.
            return try isOlder || row.isNull(10) || isCanonical(row)
        }
    }

    /// Whether the JSON of buttons and strings is what this program writes, so that nobody who
    /// reads the columns takes it for something else.
    private func isCanonical(_ row: borrowing Row) throws -> Bool {
        guard try known.buttons(row.raw(8))?.isCanonical == true else { return false }
        return try row.holds(9, "{}")
            || row.raw(9).holds(StoredJSON.encode(StoredJSON.strings(row.text(9))))
    }

    /// Whether an alert is what was shown, snoozed or ended.
    func isShown(_ id: Int64, _ entry: borrowing Row, _ db: Database) throws -> Bool {
        let slot = Int(id & Int64(Self.recentCount - 1))
        guard recentIDs[slot] == id else {
            return try isContent(id, entry, db) { _, _ in true }
        }
        presented = recentlyPresented[slot]
        return entry.raw(18).holds(UnsafeRawBufferPointer(content(at: slot)))
    }

    private func isContent(
        _ id: Int64, _ entry: borrowing Row, _ db: Database,
        _ isRight: (borrowing Row, borrowing Row) throws -> Bool
    ) throws -> Bool {
        let slot = Int(id & Int64(Self.recentCount - 1))
        var isErased = false
        let rows = try db.first(
            """
            SELECT style, title, message, default_button, priority, key, handler, presenters,
                buttons, info, salt, sources.name, sources.uid, pid, host, asked_ms, expires_ms,
                asked_boot_ms, expires_boot_ms, boot, dismiss_after_ms, snooze_ms, presented_ms
            FROM alerts NOT INDEXED JOIN sources NOT INDEXED ON sources.id = source_id
            WHERE alerts.id = ?
            """, .integer(id)
        ) { row in
            presented = row.optionalInteger(22)
            guard let hashed = try hashContent(row, into: content(at: slot)) else {
                // Whether its texts were erased rightly is found out at the end.
                isErased = true
                recentIDs[slot] = -1
                guard try isBlank(row) else { return false }
                return try isRight(row, entry)
            }
            recentIDs[slot] = hashed ? id : -1
            recentlyPresented[slot] = presented
            return try isRight(row, entry)
        }
        guard rows == true else { return false }
        guard !isErased else { return try isContentAsked(id, entry, db) }
        return recentIDs[slot] == id
            && entry.raw(18).holds(UnsafeRawBufferPointer(content(at: slot)))
    }

    /// Whether an entry tells the content that the entry of the ask does, for want of texts.
    private func isContentAsked(
        _ id: Int64, _ entry: borrowing Row, _ db: Database
    ) throws -> Bool {
        // What was shown just when it was erased has no hash.
        if entry.holds(2, "asked") || (entry.isNull(18) && entry.holds(2, "presented")) {
            return true
        }
        return try db.first(
            """
            SELECT content FROM audit INDEXED BY audit_alert
            WHERE alert_id = ? AND event = 'asked' ORDER BY seq LIMIT 1
            """, .integer(id)
        ) { asked in asked.raw(0).isSame(as: entry.raw(18)) } ?? false
    }

    /// Whether an alert has none of the texts that an erasure takes.
    private func isBlank(_ row: borrowing Row) throws -> Bool {
        guard row.isNull(1), row.isNull(2), row.isNull(10), row.holds(9, "{}") else { return false }
        return try StoredJSON.partialButtons(row.text(8)).allSatisfy { $0.title == nil }
    }

    /// Whether the response of an alert is the one that the entry tells of, to what was asked.
    func isResolved(_ id: Int64, _ entry: borrowing Row, _ db: Database) throws -> Bool {
        guard try isShown(id, entry, db) else { return false }
        return try db.first(
            """
            SELECT outcome, button_index, resolved_by, resolved_ms, responses.uid, user, via, tty,
                ssh, responses.host, responses.pid, source, sources.name, responses.key,
                alerts.key, responses.handler, alerts.handler, button, buttons, salt, handled,
                responses.seq, expires_ms, expires_boot_ms, boot, default_button
            FROM responses INDEXED BY sqlite_autoindex_responses_1
            JOIN alerts NOT INDEXED ON alerts.id = alert_id
            JOIN sources NOT INDEXED ON sources.id = source_id WHERE alert_id = ?
            """, .integer(id)
        ) { row in
            guard row.raw(0).isSame(as: entry.raw(5)), row.raw(1).isSame(as: entry.raw(6)),
                row.raw(2).isSame(as: entry.raw(8)), row.raw(3).isSame(as: entry.raw(1)),
                row.raw(11).isSame(as: row.raw(12)), row.raw(13).isSame(as: row.raw(14)),
                row.raw(15).isSame(as: row.raw(16)), hasResponder(row, entry), hasReason(row, entry)
            else { return false }
            number = row.integer(21)
            return row.isNull(19)
                ? try hasErasedButton(row, role: entry.optionalText(7))
                : try hasButton(row, role: entry.optionalText(7))
        } ?? false
    }

    /// Whether an expiry came when it had to, and a cancel was handled as its entry says.
    private func hasReason(_ row: borrowing Row, _ entry: borrowing Row) -> Bool {
        (isOlder, isUnseen) = (false, false)
        let isHandled = row.integer(20) != 0
        if row.holds(0, "expired") {
            let end = ExpiryCheck(row, detail: entry.optionalText(19))
            (isOlder, isUnseen) = (end.isOlder, end.isUnseen)
            return !isHandled && end.isInTime
        }
        guard row.holds(0, "cancelled") else { return !isHandled }
        isOlder = entry.isNull(19)
        return isOlder || isHandled == EntryDetail.isHandled(entry.optionalText(19))
    }

    /// A timer is no responder; the entry then names the process that stored it.
    private func hasResponder(_ row: borrowing Row, _ entry: borrowing Row) -> Bool {
        let isTimer =
            row.holds(0, "expired") || (row.holds(0, "dismissed") && row.holds(2, "system"))
        if isTimer { return (4...10).allSatisfy { row.isNull($0) } }
        // uid, user, via, tty, ssh, host and pid.
        for (mine, its): (Int32, Int32) in [
            (4, 9), (5, 10), (6, 13), (7, 14), (8, 15), (9, 16), (10, 17),
        ] {
            guard row.raw(mine).isSame(as: entry.raw(its)) else { return false }
        }
        return true
    }

    /// Whether the response names the id of its alert's button.
    private func hasButton(_ row: borrowing Row, role: String?) throws -> Bool {
        let index = row.integer(1)
        guard index >= 0 else { return index == -1 && row.isNull(17) && role == nil }
        guard let buttons = try known.buttons(row.raw(18)), index < buttons.ids.count else {
            return false
        }
        return buttons.roles[Int(index)] == role
            && buttons.ids[Int(index)].withUnsafeBytes(row.raw(17).holds)
    }

    /// Whether the response names what is left of its alert's button.
    private func hasErasedButton(_ row: borrowing Row, role: String?) throws -> Bool {
        let index = row.integer(1)
        guard index >= 0 else { return index == -1 && row.isNull(17) }
        let buttons = try StoredJSON.partialButtons(row.text(18))
        guard index < buttons.count else { return false }
        let button = buttons[Int(index)]
        return button.role == role && button.id.isIdentical(to: row.optionalText(17))
    }

    private func content(at slot: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            rebasing: recent[(slot * SHA256.byteCount)..<((slot + 1) * SHA256.byteCount)])
    }
}

// MARK: - Hashing

extension AlertContents {
    private static let kind = Array("alertq-content-1".utf8)

    /// Hashes what an alert asks, as ``AuditEntry/content(of:salt:)`` does.
    ///
    /// Returns whether it could be hashed; `nil` where the text has been erased.
    private func hashContent(
        _ row: borrowing Row, into digest: UnsafeMutableRawBufferPointer
    ) throws -> Bool? {
        let (salt, title) = (row.raw(10), row.raw(1))
        if salt.kind == .null { return nil }
        guard salt.kind == .blob, title.kind == .text else { return false }
        guard let buttons = try known.buttons(row.raw(8)) else { return false }
        input.begin(Self.kind)
        input.hex(salt.bytes)
        for column: Int32 in 0..<4 { guard text(row.raw(column)) else { return false } }
        guard try addRouting(row) else { return false }
        input.append(buttons.hashed)
        try addInfo(row)
        guard input.isValidText else { return false }
        input.hash(into: digest)
        return true
    }

    /// Adds the priority, the key, the handler and the presenters.
    func addRouting(_ row: borrowing Row) throws -> Bool {
        input.number(row.integer(4))
        guard text(row.raw(5)), text(row.raw(6)) else { return false }
        let presenters = try row.optionalText(7).map { text throws -> [String] in
            try StoredJSON.decode([String].self, text)
        }
        // SQLite reads these names as well, which one program's JSON has both read alike.
        // An empty list hashes like no list, but no presenter may show the alert.
        if let presenters,
            presenters.isEmpty || !row.raw(7).holds(StoredJSON.encode(presenters))
        {
            return false
        }
        input.number(Int64(presenters?.count ?? 0))
        for var name in presenters ?? [] { name.withUTF8 { input.text(.init($0)) } }
        return true
    }

    /// Adds the strings of `userInfo`.
    func addInfo(_ row: borrowing Row) throws {
        guard !row.holds(9, "{}") else { return input.number(0) }
        let strings = try StoredJSON.strings(row.text(9))
        input.number(Int64(strings.count))
        for var name in strings.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            var value = strings[name] ?? ""
            name.withUTF8 { input.text(.init($0)) }
            value.withUTF8 { input.text(.init($0)) }
        }
    }

    func text(_ value: RawColumn) -> Bool {
        switch value.kind {
        case .text: input.text(value.bytes)
        case .null: input.absent()
        case .integer, .real, .blob: return false
        }
        return true
    }
}
