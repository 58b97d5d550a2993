import AlertCore
import SQLite

/// Compares one alert with the audit log before any of it is returned.
///
/// A process that can write the file can change a row and change it back. The log's entries, whose
/// hashes are recomputed, record what was asked and how it ended.
extension Database {
    // Only this index is used: one added by another program might not match the table.
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
    private static let logged = """
        SELECT \(Logged.list) FROM audit INDEXED BY audit_alert
        WHERE alert_id >= ? ORDER BY alert_id, seq LIMIT 1
        """
    private static let entryAt = "SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq = ?"
    private static let neighbours = "SELECT \(Neighbours.list)"

    private enum Logged: Int, ColumnList { case alertId, seq }

    /// The first of several alerts that have an entry, and that entry.
    enum FirstLogged {
        case none
        case alert(Alert.ID, entry: Int64)
    }

    /// How the entries before and after the entry `?1` relate to it.
    private enum Neighbours: Int, ColumnList {
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

    /// Makes sure that an alert and its response match the log.
    ///
    /// - Returns: The row.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if they are not.
    @discardableResult
    func checked(_ row: AlertRow) throws -> AlertRow {
        let row = row.withContent
        let id = row.record.id
        let entries = try firstEntries(of: id)
        guard let asked = entries.asked else {
            throw AlertError.inconsistent(id, "no entry says that it was asked")
        }
        // It has the same hash as an alert without presenters, and would wait forever.
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

    /// Whether an alert was asked by a version before schema 5, whose entry contains less.
    func isAskedBefore(_ id: Alert.ID) throws -> Bool {
        EntryDetail.isOlder(asked: try firstEntries(of: id).asked?.detail)
    }

    /// The digest of the question of an alert without texts; `nil` if no entry has it.
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

    /// The first alert, from an id on, that has an entry.
    func firstLogged(from id: Alert.ID) throws -> FirstLogged {
        try first(Self.logged, .integer(id)) { row in
            .alert(row.integer(Logged.alertId), entry: row.integer(Logged.seq))
        } ?? .none
    }

    /// Makes sure that no entry records that a response was collected, before one is written.
    func checkUncollected(_ id: Alert.ID) throws {
        guard let entry = try first(Self.collections, .integer(id), read: { $0.integer() })
        else { return }
        throw AlertError.inconsistent(id, "entry \(entry) says that its response was collected")
    }

    /// Who requested that a screen cancel an alert; `nil` if there is no request.
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

    /// The entries that record that an alert was asked, how it ended, and that it was collected.
    ///
    /// There is at most one of each, in this order: if there are two, neither can be trusted.
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
                    "entry \(sequence) repeats entry \(last), or an index is wrong")
            }
            last = sequence
            return true
        }
        return found
    }

    /// Makes sure that an entry continues the previous one, and that the next one continues it.
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

    /// Reads an entry of an alert, or of none, and makes sure that it was not changed.
    ///
    /// A tampered index may lead to another alert's entry.
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

    /// Makes sure that an entry records that an alert lost its texts, after it had ended and after
    /// its response had been collected, if it had to be.
    ///
    /// What is left of it must match the entry of its ask.
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
        // For older alerts, the erasure records what is left, if this version wrote it.
        guard maySayLess, let left = erasure.left, try leftHash(of: erasure) != left else { return }
        throw AlertError.inconsistent(
            id, "what is left of it and of those erased with it was changed")
    }

    /// The log's record of the erasure of an alert's texts; `nil` if there is none.
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
            // Erased by a version that did not store the entry in the row.
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
