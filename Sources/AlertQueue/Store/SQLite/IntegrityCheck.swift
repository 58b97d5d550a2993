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

    /// What the indexes of the log and of waiting handlers hold, each entry once.
    ///
    /// By these, entries are found when an alert is checked, and responses for their handler.
    func indexSum() throws -> MultisetHash {
        var sum = MultisetHash()
        try forEach(
            "SELECT alert_id, seq FROM audit INDEXED BY audit_alert WHERE alert_id IS NOT NULL", []
        ) { sum.add(.entry, of: $0.integer(0), $0.integer(1)) }
        try forEach(
            "SELECT seq FROM audit INDEXED BY audit_erased WHERE event = 'erased'", []
        ) { sum.add(.erasure, of: 0, $0.integer(0)) }
        try forEach(
            """
            SELECT handler, seq FROM responses INDEXED BY responses_handler
            WHERE handler IS NOT NULL AND collected_ms IS NULL
            """, []
        ) { row in sum.add(.handler, of: row.text(0).bytesHash, row.integer(1)) }
        return sum
    }
}
