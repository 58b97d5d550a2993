import AlertCore
import Glibc
import SQLite

/// Compares the rows of alerts with entries of the audit log, byte by byte.
///
/// Part of ``QuickAuditCheck``: anything unusual counts as a difference.
final class AlertContents {
    let input = HashInput()
    let detail = HashInput()
    let known = ButtonCache()
    let digest = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SHA256.byteCount, alignment: 8)
    /// The contents of recent alerts: most alerts are shown and answered soon after they were
    /// asked. Gain: verifying takes 0.84 times as long (`alertq-bench verify`; against none kept).
    private let recent = UnsafeMutableRawBufferPointer.allocate(
        byteCount: recentCount * SHA256.byteCount, alignment: 8)
    private var recentIDs = [Int64](repeating: -1, count: recentCount)
    private var recentlyPresented = [Int64?](repeating: nil, count: recentCount)
    private static let recentCount = 1024

    // Further facts about the last row examined.
    /// When it was last shown, according to its row.
    private(set) var presented: Int64?
    /// Whether its entry has the older form, which versions before schema 5 wrote.
    var isOlder = false

    deinit {
        recent.deallocate()
        digest.deallocate()
    }

    func forgetHashes() {
        for slot in recentIDs.indices { recentIDs[slot] = -1 }
    }

    /// Whether an alert is as it was when it was asked.
    func isAsked(_ id: Int64, _ entry: borrowing Row, _ db: Database) throws -> Bool {
        try isContent(id, entry, db) { row, entry in
            guard row.raw(Asked.sourceName).isSame(as: entry.raw(Entry.source)),
                row.raw(Asked.sourceUid).isSame(as: entry.raw(Entry.uid)),
                row.raw(Asked.pid).isSame(as: entry.raw(Entry.pid)),
                row.raw(Asked.host).isSame(as: entry.raw(Entry.host)),
                row.raw(Asked.askedMs).isSame(as: entry.raw(Entry.atMs)),
                try hasDetail(row, entry.raw(Entry.detail))
            else { return false }
            // Earlier versions may have written JSON differently.
            return try isOlder || row.isNull(Asked.salt) || isCanonical(row)
        }
    }

    /// Whether the JSON of buttons and strings is as this program writes it, so that no reader of
    /// the columns takes it for anything else.
    private func isCanonical(_ row: borrowing Row) throws -> Bool {
        guard try known.buttons(row.raw(Asked.buttons))?.isCanonical == true else { return false }
        return try row.holds(Asked.info, "{}")
            || row.raw(Asked.info)
                .holds(StoredJSON.encode(StoredJSON.strings(row.text(Asked.info))))
    }

    /// Whether an alert is as it was when it was shown, snoozed or ended.
    func isShown(_ id: Int64, _ entry: borrowing Row, _ db: Database) throws -> Bool {
        let slot = Int(id & Int64(Self.recentCount - 1))
        guard recentIDs[slot] == id else {
            return try isContent(id, entry, db) { _, _ in true }
        }
        presented = recentlyPresented[slot]
        return entry.raw(Entry.content).holds(UnsafeRawBufferPointer(content(at: slot)))
    }

    private func isContent(
        _ id: Int64, _ entry: borrowing Row, _ db: Database,
        _ isRight: (borrowing Row, borrowing Row) throws -> Bool
    ) throws -> Bool {
        let slot = Int(id & Int64(Self.recentCount - 1))
        var isErased = false
        let rows = try db.first(Self.asked, .integer(id)) { row in
            presented = row.optionalInteger(Asked.presentedMs)
            recentlyPresented[slot] = presented
            recentIDs[slot] = -1
            if row.isNull(Asked.salt) {
                // Whether its texts were erased correctly is checked at the end.
                isErased = true
                guard try isBlank(row) else { return false }
            } else {
                try hashContent(row, into: content(at: slot))
                recentIDs[slot] = id
            }
            return try isRight(row, entry)
        }
        guard rows == true else { return false }
        guard !isErased else { return try isContentAsked(id, entry, db) }
        return entry.raw(Entry.content).holds(UnsafeRawBufferPointer(content(at: slot)))
    }

    /// Whether an entry has the same content as the ask's entry, for an alert without texts.
    private func isContentAsked(
        _ id: Int64, _ entry: borrowing Row, _ db: Database
    ) throws -> Bool {
        // An alert that was shown just as it was erased has no hash.
        let wasErased = entry.isNull(Entry.content) && entry.holds(Entry.event, "presented")
        if wasErased || entry.holds(Entry.event, "asked") { return true }
        return try db.first(
            """
            SELECT content FROM audit INDEXED BY audit_alert
            WHERE alert_id = ? AND event = 'asked' ORDER BY seq LIMIT 1
            """, .integer(id)
        ) { asked in asked.raw().isSame(as: entry.raw(Entry.content)) } ?? false
    }

    /// Whether an alert has none of the texts that an erasure removes.
    private func isBlank(_ row: borrowing Row) throws -> Bool {
        guard row.isNull(Asked.title), row.isNull(Asked.message), row.isNull(Asked.salt),
            row.holds(Asked.info, "{}")
        else { return false }
        return try StoredJSON.partialButtons(row.text(Asked.buttons)).allSatisfy {
            $0.title == nil
        }
    }

    private func content(at slot: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            rebasing: recent[(slot * SHA256.byteCount)..<((slot + 1) * SHA256.byteCount)])
    }
}

// MARK: - Hashing

extension AlertContents {
    /// A value that this program never writes.
    struct Unusual: Error {}

    /// Hashes the content of an alert.
    private func hashContent(
        _ row: borrowing Row, into digest: UnsafeMutableRawBufferPointer
    ) throws {
        try AlertHash.content.write(to: input) { part in try add(part, of: row) }
        guard input.isValidText else { throw Unusual() }
        input.hash(into: digest)
    }

    /// Adds a part of the alert in a row of ``Asked``.
    func add(_ part: AlertHash.Part, of row: borrowing Row) throws {
        switch part {
        case .salt:
            let salt = row.raw(Asked.salt)
            guard salt.kind == .blob else { throw Unusual() }
            input.hex(salt.bytes)
        case .title:
            guard !row.isNull(Asked.title) else { throw Unusual() }
            try input.append(row.raw(Asked.title))
        case .source: try input.append(row.raw(Asked.sourceName))
        case .key: try input.append(row.raw(Asked.key))
        case .style: try input.append(row.raw(Asked.style))
        case .message: try input.append(row.raw(Asked.message))
        case .defaultButton: try input.append(row.raw(Asked.defaultButton))
        case .handler: try input.append(row.raw(Asked.handler))
        case .priority: input.number(row.integer(Asked.priority))
        case .presenters: input.append(try presenters(row))
        case .buttons: input.append(netstrings: try buttons(row).hashed)
        case .userInfo:
            input.append(
                row.holds(Asked.info, "{}") ? [:] : try StoredJSON.strings(row.text(Asked.info)))
        case .leftDefaultButton:
            let name = row.raw(Asked.defaultButton)
            let isLeft = try row.isNull(Asked.salt) || buttons(row).leaves(name)
            if isLeft { try input.append(name) } else { input.absent() }
        case .leftButtons:
            if row.isNull(Asked.salt) {
                input.append(try StoredJSON.partialButtons(row.text(Asked.buttons)))
            } else {
                input.append(netstrings: try buttons(row).left)
            }
        }
    }

    /// The names of the presenters.
    private func presenters(_ row: borrowing Row) throws -> [String] {
        guard let json = row.optionalText(Asked.presenters) else { return [] }
        let names = try StoredJSON.decode([String].self, json)
        // SQLite reads these names too, and both read this program's JSON alike. An empty list has
        // the hash of no list, but no presenter may show the alert.
        guard !names.isEmpty, row.raw(Asked.presenters).holds(StoredJSON.encode(names)) else {
            throw Unusual()
        }
        return names
    }

    private func buttons(_ row: borrowing Row) throws -> ButtonCache.Buttons {
        guard let buttons = try known.buttons(row.raw(Asked.buttons)) else { throw Unusual() }
        return buttons
    }
}

extension HashInput {
    /// Adds a text, directly from SQLite's memory.
    fileprivate func append(_ value: RawColumn) throws {
        switch value.kind {
        case .text: text(value.bytes)
        case .null: absent()
        case .integer, .real, .blob: throw AlertContents.Unusual()
        }
    }
}

// MARK: - Columns

extension AlertContents {
    typealias Entry = AuditRow.Column

    /// The columns of an alert that make up what was asked.
    enum Asked: Int, ColumnList {
        case style, title, message, defaultButton, priority, key, handler, presenters, buttons
        case info, salt, sourceName, sourceUid, pid, host, askedMs, expiresMs, askedBootMs
        case expiresBootMs, boot, dismissAfterMs, snoozeMs, presentedMs

        var sql: String {
            switch self {
            case .sourceName: "sources.name"
            case .sourceUid: "sources.uid"
            default: snakeCased
            }
        }
    }

    // Built once: statements are cached by their text.
    private static let asked = """
        SELECT \(Asked.list)
        FROM alerts NOT INDEXED JOIN sources NOT INDEXED ON sources.id = source_id
        WHERE alerts.id = ?
        """
}
