import AlertCore
import SQLite

/// Compares one alert with what the audit log says of it, before any of it is returned.
///
/// A process that can write the file can change a row and change it back: the log's entries, whose
/// hashes are computed again, say what was asked and how it ended.
extension Database {
    // By this index alone: one of somebody else's might hold other values than the table.
    private static let entries = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0
            AND (event = 'asked' OR event = 'resolved' OR event = 'collected') ORDER BY seq
        """
    private static let requests = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'cancelling' ORDER BY seq DESC LIMIT 1
        """
    private static let collections = """
        SELECT seq FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'collected' LIMIT 1
        """
    private static let told = """
        SELECT \(Told.list) FROM audit INDEXED BY audit_alert
        WHERE alert_id >= ? ORDER BY alert_id, seq LIMIT 1
        """
    private static let entryAt = "SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq = ?"
    private static let neighbours = "SELECT \(Neighbours.list)"

    private enum Told: Int32, ColumnList { case alertId, seq }

    /// The first of some alerts of which an entry tells, and that entry.
    enum FirstTold {
        case none
        case alert(Alert.ID, entry: Int64)
    }

    /// What the entries before and after the entry `?1` have to do with it.
    private enum Neighbours: Int32, ColumnList {
        case hashBefore, previousAfter

        var sql: String {
            switch self {
            case .hashBefore: "(SELECT hash FROM audit NOT INDEXED WHERE seq = ?1 - 1)"
            case .previousAfter: "(SELECT previous FROM audit NOT INDEXED WHERE seq = ?1 + 1)"
            }
        }
    }

    private static let erasures = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_erased
        WHERE event = 'erased' AND seq > 0
        ORDER BY seq
        """

    /// Makes sure that an alert and its response are what the log says.
    ///
    /// - Returns: The row.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if they are not.
    @discardableResult
    func checked(_ row: AlertRow) throws -> AlertRow {
        let id = row.record.id
        let entries = try firstEntries(of: id)
        guard let asked = entries.asked else {
            throw AlertError.inconsistent(id, "no entry says that it was asked")
        }
        // It has the hash of no presenters at all, and would wait for ever.
        guard row.record.alert.presenters?.isEmpty != true else {
            throw AlertError.inconsistent(id, "it names no presenter that may show it")
        }
        if let content = row.content {
            guard content == asked.content else {
                throw AlertError.inconsistent(
                    id, "it is not what was asked, as entry \(asked.event.sequence) says")
            }
        } else {
            try checkErasure(of: row, asked, entries)
        }
        guard asked.matches(row) else {
            throw AlertError.inconsistent(
                id,
                "its \(AuditEntry.askedParts) are not those of entry \(asked.event.sequence)")
        }
        guard row.isMarkedResolved == (row.record.response != nil) else {
            throw AlertError.inconsistent(id, "its state is not that of its response")
        }
        if let response = row.record.response {
            try check(response, of: row, entries)
        } else if let resolved = entries.resolved {
            throw AlertError.inconsistent(
                id, "it waits, but entry \(resolved.event.sequence) says that it ended")
        }
        return row
    }

    private func check(
        _ response: Response, of row: AlertRow, _ entries: FirstEntries
    ) throws {
        let id = row.record.id
        guard let resolved = entries.resolved else {
            throw AlertError.inconsistent(id, "no entry says that it got a response")
        }
        guard resolved.matches(response), resolved.content == entries.asked?.content,
            resolved.matchesHandling(of: row, response)
        else {
            throw AlertError.inconsistent(
                id, "its response is not the one of entry \(resolved.event.sequence)")
        }
        let collected = response.collectedAt.map(Timestamp.milliseconds)
        guard collected == entries.collected.map({ Timestamp.milliseconds($0.event.at) }) else {
            throw AlertError.inconsistent(
                id, "it differs from the log in whether and when its response was collected")
        }
    }

    /// Whether versions before schema 5 asked an alert, whose entry says less.
    func isAskedBefore(_ id: Alert.ID) throws -> Bool {
        EntryDetail.isOlder(asked: try firstEntries(of: id).asked?.detail)
    }

    /// The digest of what an alert without texts asked; `nil` if no entry has it.
    func keyDigest(of row: AlertRow) throws -> KeyDigest? {
        let asked = try firstEntries(of: row.record.id).asked
        guard EntryDetail.isOlder(asked: asked?.detail) else {
            return EntryDetail.key(asked: asked?.detail)
        }
        guard let erasure = try erasure(of: row)?.alerts, let salt = erasure.salt,
            let hash = erasure.keys[row.record.id]
        else { return nil }
        return KeyDigest(salt: salt, hash: hash)
    }

    /// The first alert from a number on of which an entry tells.
    func firstTold(from id: Alert.ID) throws -> FirstTold {
        try first(Self.told, .integer(id)) { row in
            .alert(row.integer(Told.alertId), entry: row.integer(Told.seq))
        } ?? .none
    }

    /// Makes sure that no entry says that a response was collected, before one is written.
    func checkUncollected(_ id: Alert.ID) throws {
        guard let entry = try first(Self.collections, .integer(id), read: { $0.integer() })
        else { return }
        throw AlertError.inconsistent(id, "entry \(entry) says that its response was collected")
    }

    /// Who requested that a screen cancel an alert; `nil` for no request.
    func cancelRequest(of id: Alert.ID) throws -> CancelRequest? {
        try first(Self.requests, .integer(id)) { row in
            let entry = try unchangedEntry(row, of: id)
            try checkLinks(of: entry, id)
            return entry.event.by.map { CancelRequest(by: $0, caller: entry.caller) }
        } ?? nil
    }

    private struct FirstEntries {
        var asked: AuditEntry?
        var resolved: AuditEntry?
        var collected: AuditEntry?
    }

    /// The entries that say that an alert was asked, how it ended, and that it was collected.
    ///
    /// There is one of each, in this order: where there are two, nobody can say which one is right.
    private func firstEntries(of id: Alert.ID) throws -> FirstEntries {
        var found = FirstEntries()
        var last: Int64 = 0
        try visit(Self.entries, [.integer(id)]) { row in
            let entry = try unchangedEntry(row, of: id)
            try checkLinks(of: entry, id)
            let sequence = entry.event.sequence
            let before =
                switch entry.event.kind {
                case .asked: found.asked.replace(with: entry)
                case .resolved: found.resolved.replace(with: entry)
                default: found.collected.replace(with: entry)
                }
            guard before == nil, sequence > last else {
                throw AlertError.inconsistent(
                    id,
                    "entry \(sequence) tells again what entry \(last) does, or an index is wrong")
            }
            last = sequence
            return true
        }
        return found
    }

    /// Makes sure that an entry goes on from the one before, and the one after it from this one.
    private func checkLinks(of entry: AuditEntry, _ id: Alert.ID) throws {
        let isLinked = try first(Self.neighbours, .integer(entry.event.sequence)) { row in
            let before = row.blob(Neighbours.hashBefore) ?? AuditHead.start.hash
            let after = row.blob(Neighbours.previousAfter)
            return before == entry.previous && (after == nil || after == entry.hash)
        }
        guard isLinked == true else {
            throw AlertError.inconsistent(id, "entry \(entry.event.sequence) was replaced")
        }
    }

    /// An entry of an alert, or of none, that has the hash of what it says.
    ///
    /// An index may lead to another alert's.
    private func unchangedEntry(_ row: borrowing Row, of id: Alert.ID) throws -> AuditEntry {
        guard let entry = try? AuditRow.entry(row), entry.computedHash == entry.hash else {
            let sequence = row.integer(AuditRow.Column.seq)
            throw AlertError.inconsistent(id, "entry \(sequence) was changed")
        }
        guard entry.event.kind == .erased || entry.event.alertID == id else {
            throw AlertError.inconsistent(
                id, "an index finds entry \(entry.event.sequence), which is not about it")
        }
        return entry
    }

    /// Makes sure that an entry says that an alert has lost its texts, after it had ended and after
    /// those who had to take its response had done so.
    ///
    /// What is left of it is what the entry of its ask says.
    private func checkErasure(
        of row: AlertRow, _ asked: AuditEntry, _ entries: FirstEntries
    ) throws {
        let id = row.record.id
        let maySayLess = EntryDetail.isOlder(asked: asked.detail)
        let resolved = entries.resolved?.event.sequence ?? .max
        guard let (sequence, erasure) = try erasure(of: row), sequence > resolved, row.isBlank
        else {
            throw AlertError.inconsistent(
                id, "it has lost its texts, and no entry says that they were erased")
        }
        if !maySayLess, row.record.awaitsCollection,
            entries.collected.map({ $0.event.sequence > sequence }) ?? true
        {
            throw AlertError.inconsistent(
                id, "entry \(sequence) erased its texts before its response was collected")
        }
        // What is left of older ones, their erasure says, if this version wrote it.
        guard maySayLess, let left = erasure.left, try leftHash(of: erasure) != left else { return }
        throw AlertError.inconsistent(
            id, "what is left of it and of those erased with it was changed")
    }

    /// What the log says of the erasure of an alert's texts; `nil` for nothing.
    func erasure(of row: AlertRow) throws -> (sequence: Int64, alerts: ErasedAlerts)? {
        let id = row.record.id
        var found: (Int64, ErasedAlerts)?
        let read: (borrowing Row) throws -> Bool = { row in
            guard row.text(AuditRow.Column.event) == AlertEvent.Kind.erased.rawValue,
                let alerts = ErasedAlerts(detail: row.optionalText(AuditRow.Column.detail)),
                alerts.contains(id)
            else { return true }
            try self.checkLinks(of: try self.unchangedEntry(row, of: id), id)
            found = (row.integer(AuditRow.Column.seq), alerts)
            return false
        }
        if let sequence = row.erasedSequence {
            try visit(Self.entryAt, [.integer(sequence)], read)
        } else {
            // Erased before the row said where.
            try visit(Self.erasures, [], read)
        }
        return found
    }
}

extension Optional {
    /// Replaces a value; returns the old one.
    fileprivate mutating func replace(with value: Wrapped) -> Wrapped? {
        defer { self = value }
        return self
    }
}
