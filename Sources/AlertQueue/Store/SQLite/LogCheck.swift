import SQLite

/// Compares one alert with what the audit log says of it, before anything of it is told.
///
/// Whoever may write the file can change a row and change it back: the log's entries, whose hashes
/// are computed again, say what was asked and how it ended.
extension Database {
    // By this index alone: one of somebody else's might hold other values than the table.
    private static let entries = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND (event = 'asked' OR event = 'resolved') ORDER BY seq
        """
    private static let requests = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND event = 'cancelling' ORDER BY seq DESC LIMIT 1
        """
    private static let entryAt = "SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq = ?"
    private static let erasures = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_erased WHERE event = 'erased'
        ORDER BY seq DESC
        """

    /// Makes sure that an alert and its response are what the log says.
    ///
    /// - Returns: The row.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if they are not.
    @discardableResult
    func checked(_ row: AlertRow) throws -> AlertRow {
        let id = row.record.id
        let (asked, resolved) = try firstEntries(of: id)
        guard let asked else {
            throw AlertError.inconsistent(id, "no entry says that it was asked")
        }
        guard asked.tells(of: row) else {
            throw AlertError.inconsistent(
                id,
                "its source, time, deadline or timers are not those of entry "
                    + "\(asked.event.sequence)")
        }
        // It has the hash of no presenters at all, and would wait for ever.
        guard row.record.alert.presenters?.isEmpty != true else {
            throw AlertError.inconsistent(id, "it names no presenter that may show it")
        }
        let content = row.content
        if let content {
            guard content == asked.content else {
                throw AlertError.inconsistent(
                    id, "it is not what was asked, as entry \(asked.event.sequence) says")
            }
        } else {
            try checkErasure(of: row)
        }
        guard let response = row.record.response else {
            guard let resolved else { return row }
            throw AlertError.inconsistent(
                id, "it waits, but entry \(resolved.event.sequence) says that it ended")
        }
        guard let resolved else {
            throw AlertError.inconsistent(id, "no entry says that it got a response")
        }
        guard resolved.tells(of: response), content == nil || content == resolved.content else {
            throw AlertError.inconsistent(
                id, "its response is not the one of entry \(resolved.event.sequence)")
        }
        return row
    }

    /// The word by which somebody requested that a screen cancel an alert; `nil` for no request.
    func cancelRequest(of id: Alert.ID) throws -> ResolvedBy? {
        try first(Self.requests, .integer(id)) { try unchangedEntry($0, of: id).event.by } ?? nil
    }

    /// The entry that says that an alert was asked, and the one that says how it ended.
    ///
    /// Of several the first counts: a later one can be written by anybody.
    private func firstEntries(
        of id: Alert.ID
    ) throws -> (asked: AuditEntry?, resolved: AuditEntry?) {
        var found: (asked: AuditEntry?, resolved: AuditEntry?)
        try visit(Self.entries, [.integer(id)]) { row in
            let entry = try unchangedEntry(row, of: id)
            if entry.event.kind == .asked, found.asked == nil { found.asked = entry }
            if entry.event.kind == .resolved, found.resolved == nil { found.resolved = entry }
            return found.asked == nil || found.resolved == nil
        }
        return found
    }

    /// An entry that has the hash of what it says.
    private func unchangedEntry(_ row: borrowing Row, of id: Alert.ID) throws -> AuditEntry {
        guard let entry = try? AuditRow.entry(row), entry.computedHash == entry.hash else {
            throw AlertError.inconsistent(id, "entry \(row.integer(0)) was changed")
        }
        return entry
    }

    /// Makes sure that an entry says that an alert has lost its texts.
    private func checkErasure(of row: AlertRow) throws {
        guard let erasure = try erasure(of: row) else {
            throw AlertError.inconsistent(
                row.record.id, "it has lost its texts, and no entry says that they were erased")
        }
        // Somebody who asks with its key again shows by that what was asked.
        guard erasure.keys[row.record.id] == nil, let left = erasure.left else { return }
        guard try leftHash(of: erasure) == left else {
            throw AlertError.inconsistent(
                row.record.id, "what is left of it and of those erased with it was changed")
        }
    }

    /// What the log says of the erasure of an alert's texts; `nil` for nothing.
    func erasure(of row: AlertRow) throws -> ErasedAlerts? {
        let id = row.record.id
        var found: ErasedAlerts?
        let read: (borrowing Row) throws -> Bool = { row in
            guard row.text(2) == AlertEvent.Kind.erased.rawValue,
                let alerts = ErasedAlerts(detail: row.optionalText(19)), alerts.contains(id)
            else { return true }
            _ = try self.unchangedEntry(row, of: id)
            found = alerts
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
