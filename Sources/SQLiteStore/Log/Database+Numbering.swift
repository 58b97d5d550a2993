import AlertCore
import SQLite

extension Database {
    /// The tables whose next number does not follow the last one; see
    /// <https://sqlite.org/autoinc.html>.
    ///
    /// Each table's rows, read without an index, show the last number; a restore may have made the
    /// next one continue from another number, which the log records.
    func numberingFaults(
        alerts: GivenNumbers, responses: GivenNumbers
    ) throws -> [String] {
        enum Column: Int, ColumnList { case name, seq }
        var given: [String: [Int64?]] = [:]
        try forEach("SELECT \(Column.list) FROM sqlite_sequence", []) { row in
            let number = row.raw(Column.seq)
            given[row.text(Column.name), default: []]
                .append(number.kind == .integer ? number.integer : nil)
        }
        var faults: [String] = []
        for (table, column, logged) in [("alerts", "id", alerts), ("responses", "seq", responses)] {
            let found =
                try first("SELECT max(\(column)) FROM \(table) NOT INDEXED") { $0.integer() } ?? 0
            let last = max(found, (logged.start ?? 1) - 1)
            let numbers = given.removeValue(forKey: table) ?? [0]
            if numbers != [last] {
                let text = numbers.map { $0.map { "\($0)" } ?? "none" }.joined(separator: ", ")
                faults.append(
                    "the next number of the table “\(table)” would come after \(text), "
                        + "but the last one is \(last)")
            }
        }
        for name in given.keys.sorted() {
            faults.append("sqlite_sequence has a row for “\(name)”, which does not use it")
        }
        return faults
    }
}
