import AlertCore
import AlertTables
import SQLite

/// Compares one alert with the audit log before any of it is returned.
///
/// A process that can write the file can change a row and change it back. The log's entries, whose
/// hashes are recomputed, record what was asked and how it ended; ``AlertTrail`` has the rules.
extension Database {
    // Only this index is used: one added by another program might not match the table.
    private static let entries = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0
            AND (event = 'asked' OR event = 'resolved' OR event = 'superseded'
                OR event = 'collected' OR event = 'restored') ORDER BY seq
        """
    private static let requests = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'cancelling' ORDER BY seq DESC LIMIT 1
        """
    private static let collections = """
        SELECT seq FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'collected' LIMIT 1
        """
    private static let firstRecorded =
        "SELECT min(alert_id) FROM audit INDEXED BY audit_alert WHERE alert_id > ?"
    private static let entryAt = "SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq = ?"

    /// Whether the entry `?1` continues the one before it, from which it has the hash `?2`, and the
    /// one after it continues it, whose hash is `?3`; before the first one there is `?4`.
    private static let isLinked = """
        SELECT coalesce((SELECT hash FROM audit NOT INDEXED WHERE seq = ?1 - 1), ?4) IS ?2
            AND coalesce((SELECT previous FROM audit NOT INDEXED WHERE seq = ?1 + 1), ?3) IS ?3
        """

    /// Makes sure that an alert and its response match the log.
    ///
    /// - Returns: The row.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if they are not.
    @discardableResult
    func checked(_ row: AlertRow) throws -> AlertRow {
        let id = row.record.id
        var trail = try trail(of: id)
        if let sequence = row.alert.remains?.sequence,
            let erasure = try erasure(at: sequence), erasure.alerts.contains(id)
        {
            try checkUnchanged(erasure.entry, id)
            trail.addErasure(by: sequence)
        }
        return try row.checked(by: trail)
    }

    /// The digest of the question of an alert with a key, from the entry of its ask.
    func keyDigest(of id: Alert.ID) throws -> KeyDigest {
        try KeyDigest(asked: trail(of: id).asked?.detail, of: id)
    }

    /// The last id that was assigned, and the lowest after it that an entry is about.
    func lastIDs() throws -> (last: Alert.ID, recorded: Alert.ID?) {
        let last = try lastID()
        return (last, try first(Self.firstRecorded, .integer(last)) { $0.optionalInteger() } ?? nil)
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
            let entry = try entry(row, of: id)
            return entry.event.by.map { CancelRequest(by: $0, caller: entry.caller) }
        } ?? nil
    }

    /// The entries that record that an alert was asked, how it ended, which one took its place, that
    /// it was collected, and that it was contradicted in a restored backup.
    private func trail(of id: Alert.ID) throws -> AlertTrail {
        var trail = AlertTrail(of: id)
        var last: Int64 = 0
        try visit(Self.entries, [.integer(id)]) { row in
            let entry = try entry(row, of: id)
            guard entry.event.sequence > last else {
                throw AlertError.inconsistent(
                    id, "an index finds entry \(entry.event.sequence) after entry \(last)")
            }
            last = entry.event.sequence
            trail.add(entry)
            return true
        }
        return trail
    }

    /// Reads an entry that an index has found for an alert, and makes sure that it is about it.
    private func entry(_ row: borrowing Row, of id: Alert.ID) throws -> AuditEntry {
        guard let entry = try? AuditRow.entry(row) else {
            throw AlertError.inconsistent(
                id, "entry \(row.integer(AuditRow.Column.seq)) can't be understood")
        }
        try checkUnchanged(entry, id)
        guard entry.event.alertID == id else {
            throw AlertError.inconsistent(
                id, "an index finds entry \(entry.event.sequence), which is not about it")
        }
        return entry
    }

    /// Makes sure that an entry has the hash of its contents, that it continues the previous one,
    /// and that the next one continues it.
    private func checkUnchanged(_ entry: AuditEntry, _ id: Alert.ID) throws {
        let sequence = entry.event.sequence
        guard entry.computedHash == entry.hash else {
            throw AlertError.inconsistent(id, "entry \(sequence) was changed")
        }
        let isLinked = try first(
            Self.isLinked, .integer(sequence), .blob(entry.previous), .blob(entry.hash),
            .blob(AuditHead.start.hash)
        ) { $0.integer() }
        guard isLinked == 1 else {
            throw AlertError.inconsistent(id, "entry \(sequence) was replaced")
        }
    }

    /// The entry with a number, and the alerts whose texts were erased according to it; `nil` if it
    /// is not about an erasure.
    func erasure(at sequence: Int64) throws -> (entry: AuditEntry, alerts: ErasedAlerts)? {
        try first(Self.entryAt, .integer(sequence)) { row in
            guard let entry = try? AuditRow.entry(row), entry.event.kind == .erased,
                let alerts = ErasedAlerts(detail: entry.detail)
            else { return nil }
            return (entry, alerts)
        } ?? nil
    }
}
