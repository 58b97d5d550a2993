import AlertCore
import SQLite

extension Database {
    /// The faults that SQLite finds in the file: in its structure, the order of its rows, and the
    /// values of its columns; with `isThorough`, also indexes that don't match their table.
    ///
    /// See <https://sqlite.org/pragma.html#pragma_quick_check>.
    func integrityFaults(isThorough: Bool) throws -> [String] {
        try findings(isThorough ? "integrity_check(10)" : "quick_check(10)")
    }

    /// The faults that SQLite finds in the indexes by which alerts and sources are found, such as
    /// those of an older file together with a newer log.
    ///
    /// The indexes of responses are as large as all others together; they are compared only if
    /// another fault has been found. Gain: verifying takes 0.75 times as long (`alertq-bench
    /// verify`; against ``integrityFaults(isThorough:)`` of all indexes).
    func indexFaults() throws -> [String] {
        // The other check covers the values of the columns.
        try execute("PRAGMA ignore_check_constraints = ON")
        defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
        return try findings("integrity_check(alerts)") + findings("integrity_check(sources)")
    }

    private func findings(_ check: String) throws -> [String] {
        try rows("PRAGMA \(check)") { $0.text() }.filter { $0 != "ok" }
    }

    private enum IndexColumn: Int, ColumnList { case alertId, seq }
    private enum HandlerColumn: Int, ColumnList { case handler, seq }

    /// The contents of the indexes of the log, of responses and of waiting handlers, each entry
    /// once; `nil` if one is out of order, in which case a search may miss some of its contents.
    ///
    /// They are used to find entries and the response when an alert is checked, and responses for
    /// their handler.
    func indexSum() throws -> MultisetHash? {
        var sum = MultisetHash()
        var isInOrder = true
        func numbers(_ index: String, _ kind: MultisetHash.Kind) throws {
            var last = (Int64.min, Int64.min)
            try visit("SELECT \(IndexColumn.list) FROM \(index)", []) { row in
                let key = (row.integer(IndexColumn.alertId), row.integer(IndexColumn.seq))
                isInOrder = row.raw(IndexColumn.alertId).kind == .integer && key > last
                last = key
                sum.add(kind, of: key.0, key.1)
                return isInOrder
            }
        }
        try numbers("audit INDEXED BY audit_alert WHERE alert_id IS NOT NULL", .entry)
        guard isInOrder else { return nil }
        try numbers("responses INDEXED BY sqlite_autoindex_responses_1", .indexedResponse)
        guard isInOrder else { return nil }
        var lastErasure = Int64.min
        try visit("SELECT seq FROM audit INDEXED BY audit_erased WHERE event = 'erased'", []) {
            row in
            isInOrder = row.raw().kind == .integer && row.integer() > lastErasure
            lastErasure = row.integer()
            sum.add(.erasure, of: lastErasure, 0)
            return isInOrder
        }
        guard isInOrder else { return nil }
        var last: ([UInt8], Int64) = ([], .min)
        try visit(
            """
            SELECT \(HandlerColumn.list) FROM responses INDEXED BY responses_handler
            WHERE handler IS NOT NULL AND collected_ms IS NULL
            """, []
        ) { row in
            let handler = row.raw(HandlerColumn.handler)
            let key = (Array(handler.bytes), row.integer(HandlerColumn.seq))
            let isLater =
                key.0 == last.0 ? key.1 > last.1 : last.0.lexicographicallyPrecedes(key.0)
            isInOrder = handler.kind == .text && isLater
            last = key
            sum.add(.handler, of: handler.bytesHash, key.1)
            return isInOrder
        }
        return isInOrder ? sum : nil
    }
}
