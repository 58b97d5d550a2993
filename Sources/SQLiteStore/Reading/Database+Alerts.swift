import AlertCore
import AlertTables
import SQLite
import TextFormats

/// Looking up the rows of alerts, for both the writer and the reader.
extension Database {
    private static let joined = """
        SELECT \(AlertRow.columns) FROM alerts
        JOIN sources ON sources.id = alerts.source_id
        """

    // Built once: statements are cached by their text. No index that another program may have added
    // is used, because verifying the log reads alerts this way.
    private static let byID = """
        SELECT \(AlertRow.columns) FROM alerts NOT INDEXED
        JOIN sources NOT INDEXED ON sources.id = alerts.source_id
        WHERE alerts.id = ?
        """

    private enum SourceColumn: Int, ColumnList { case id, pending }

    private static let sourceByName =
        "SELECT \(SourceColumn.list) FROM sources WHERE principal = ? AND name = ?"

    private static let byKey =
        joined + " WHERE alerts.source_id = ? AND alerts.key = ? ORDER BY superseded_by LIMIT 1"

    /// The highest id that was assigned, or that a restore has skipped.
    func lastID() throws -> Alert.ID {
        let found = try first("SELECT max(id) FROM alerts") { $0.integer() }
        return max(found ?? 0, try upkeep().firstID.subtractingBounded(1))
    }

    func alert(_ id: Alert.ID) throws -> AlertRow? {
        try first(Self.byID, .integer(id)) { try AlertRow($0) }
    }

    /// Returns an alert that the log confirms.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    func checkedAlert(_ id: Alert.ID) throws -> AlertRow? {
        try alert(id).map(checked)
    }

    /// Returns an alert; `nil` if the log contradicts it.
    func consistentAlert(_ id: Alert.ID) throws -> AlertRow? {
        do { return try checkedAlert(id) } catch AlertError.inconsistent { return nil }
    }

    /// Returns the alert that a principal has asked with a key, if the log confirms it.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    func checkedAlert(key: String, source: String, of principal: Principal) throws -> AlertRow? {
        guard let sourceID = try self.source(of: principal, name: source)?.id,
            let found = try first(
                Self.byKey, .integer(sourceID), .text(key), read: { try AlertRow($0) })
        else { return nil }
        return try checked(found).checkedKey(key, source: source, of: principal)
    }

    /// Returns the source with this name of a principal, and how many of its alerts wait.
    func source(of principal: Principal, name: String) throws -> (id: Int64, pending: Int64)? {
        try first(Self.sourceByName, .text(principal.text), .text(name)) { row in
            (id: row.integer(SourceColumn.id), pending: row.integer(SourceColumn.pending))
        }
    }
}
