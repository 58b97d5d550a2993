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
        SELECT \(linked) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0
            AND (event = 'asked' OR event = 'resolved' OR event = 'superseded'
                OR event = 'collected' OR event = 'restored') ORDER BY seq
        """
    private static let requests = """
        SELECT \(linked) FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'cancelling' ORDER BY seq DESC LIMIT 1
        """
    private static let collections = """
        SELECT seq FROM audit INDEXED BY audit_alert
        WHERE alert_id = ? AND seq > 0 AND event = 'collected' LIMIT 1
        """
    private static let firstRecorded =
        "SELECT min(alert_id) FROM audit INDEXED BY audit_alert WHERE alert_id > ?"
    private static let entryAt = "SELECT \(linked) FROM audit NOT INDEXED WHERE seq = ?"

    /// The columns of an entry and of those next to it, for ``AuditRow/linkedEntry(_:of:)``.
    private static let linked = """
        \(AuditRow.columns),
            (SELECT hash FROM audit AS before NOT INDEXED WHERE before.seq = audit.seq - 1),
            (SELECT previous FROM audit AS after NOT INDEXED WHERE after.seq = audit.seq + 1)
        """

    /// Makes sure that an alert and its response match the log.
    ///
    /// - Returns: The row.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if they are not.
    @discardableResult
    func checked(_ row: consuming AlertRow) throws -> AlertRow {
        let id = row.record.id
        var trail = try trail(of: id)
        if let sequence = row.alert.remains?.sequence,
            let erased = try erasure(at: sequence, of: id), erased.contains(id)
        {
            trail.addErasure(by: sequence)
        }
        return try row.checked(by: trail)
    }

    /// The digest of the question of an alert with a key, from the entry of its ask.
    func keyDigest(of id: Alert.ID) throws -> KeyDigest {
        try trail(of: id).keyDigest()
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
        let input = HashInput()
        try visit(Self.entries, [.integer(id)]) { row in
            let entry = try entry(row, of: id, input)
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

    /// Reads an entry that an index has found for an alert, and makes sure that it is about it, and as
    /// it was written.
    private func entry(
        _ row: borrowing Row, of id: Alert.ID, _ input: HashInput = HashInput()
    ) throws -> AuditEntry {
        let entry = try AuditRow.linkedEntry(row, of: id, input)
        guard entry.event.alertID == id else {
            throw AlertError.inconsistent(
                id, "an index finds entry \(entry.event.sequence), which is not about it")
        }
        return entry
    }

    /// The alerts whose texts were erased according to the entry with a number; `nil` if it is not
    /// about an erasure.
    func erasure(at sequence: Int64) throws -> ErasedAlerts? {
        try first(Self.entryAt, .integer(sequence)) { row in
            (try? AuditRow.entry(row))?.erasedAlerts
        } ?? nil
    }

    /// The same from an entry that is as it was written, for the row of an alert that names it.
    private func erasure(at sequence: Int64, of id: Alert.ID) throws -> ErasedAlerts? {
        try first(Self.entryAt, .integer(sequence)) { row in
            try AuditRow.linkedEntry(row, of: id).erasedAlerts
        } ?? nil
    }
}
