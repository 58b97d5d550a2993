import SQLite

extension Database {
    /// What SQLite finds wrong with the file: its structure, the order of its rows, what may stand
    /// in their columns, and the indexes by which alerts and sources are found.
    ///
    /// An index that has not what its table has is left by an older file beside a newer log. Those
    /// of responses are as many as all others together, and cost as much again; they are compared
    /// where something has been found. See <https://sqlite.org/pragma.html#pragma_quick_check>.
    func integrityFaults(ofAllIndexes isThorough: Bool) throws -> [String] {
        let checks =
            isThorough
            ? ["integrity_check(10)"]
            : ["quick_check(10)", "integrity_check(alerts)", "integrity_check(sources)"]
        return try checks.flatMap { check in
            try rows("PRAGMA \(check)") { $0.text(0) }.filter { $0 != "ok" }
        }
    }

    /// What the indexes of the log, of responses and of waiting handlers hold, each entry once;
    /// `nil` where one is out of order, in which case a search by it may miss what it holds.
    ///
    /// By these, entries and the response are found when an alert is checked, and responses for
    /// their handler.
    func indexSum() throws -> MultisetHash? {
        var sum = MultisetHash()
        var isInOrder = true
        func numbers(_ sql: String, _ kind: MultisetHash.Kind) throws {
            var last = (Int64.min, Int64.min)
            try visit(sql, []) { row in
                let place = (row.integer(0), row.integer(1))
                isInOrder = row.raw(0).kind == .integer && place > last
                last = place
                sum.add(kind, of: place.0, place.1)
                return isInOrder
            }
        }
        try numbers(
            "SELECT alert_id, seq FROM audit INDEXED BY audit_alert WHERE alert_id IS NOT NULL",
            .entry)
        if isInOrder {
            try numbers(
                "SELECT seq, 0 FROM audit INDEXED BY audit_erased WHERE event = 'erased'", .erasure)
        }
        if isInOrder {
            try numbers(
                "SELECT alert_id, seq FROM responses INDEXED BY sqlite_autoindex_responses_1",
                .indexedResponse)
        }
        guard isInOrder else { return nil }
        var last: ([UInt8], Int64) = ([], .min)
        try visit(
            """
            SELECT handler, seq FROM responses INDEXED BY responses_handler
            WHERE handler IS NOT NULL AND collected_ms IS NULL
            """, []
        ) { row in
            let name = Array(row.raw(0).bytes)
            let isLater =
                name == last.0 ? row.integer(1) > last.1 : last.0.lexicographicallyPrecedes(name)
            isInOrder = row.raw(0).kind == .text && isLater
            last = (name, row.integer(1))
            sum.add(.handler, of: row.raw(0).bytesHash, row.integer(1))
            return isInOrder
        }
        return isInOrder ? sum : nil
    }
}
