import SQLite

/// How many alerts wait, by source, counted again.
struct PendingCounts: Sendable {
    private var counts: [Int64: Int64] = [:]
    /// For whose turn the alerts of a source wait; more than one is wrong.
    private var accounts: [Int64: Set<Int64?>] = [:]

    /// Counts an alert of a source, which waits for the turn of an account.
    mutating func count(_ source: Int64, account: Int64?) {
        counts[source, default: 0] += 1
        accounts[source, default: []].insert(account)
    }

    /// The sources and accounts whose rows say otherwise, and sources that appear twice.
    func differences(from db: Database) throws -> [String] {
        struct Source: Hashable {
            let uid: Int64
            let name: [UInt8]
        }
        var differences: [String] = []
        var seen: Set<Source> = []
        var waitingByAccount: [Int64: Int64] = [:]
        try db.forEach("SELECT id, uid, name, pending FROM sources NOT INDEXED ORDER BY id", []) {
            row in
            let (id, uid, name) = (row.integer(0), row.integer(1), row.text(2))
            let waiting = counts[id, default: 0]
            waitingByAccount[uid, default: 0] += waiting
            guard differences.count < 100 else { return }
            if row.raw(3).kind != .integer || row.integer(3) != waiting {
                differences.append(
                    "the source “\(name)” of uid \(uid) counts \(row.integer(3)) "
                        + "waiting alerts, but has \(waiting)")
            }
            if !row.isUID(1) {
                differences.append("the source “\(name)” has an invalid uid")
            }
            if accounts[id, default: [uid]] != [uid] {
                differences.append(
                    "alerts of the source “\(name)” wait for the turn of another account than "
                        + "uid \(uid)")
            }
            if !seen.insert(Source(uid: uid, name: Array(row.raw(2).bytes))).inserted {
                differences.append("the source “\(name)” of uid \(uid) appears twice")
            }
        }
        try db.forEach("SELECT uid, pending FROM accounts NOT INDEXED ORDER BY uid", []) { row in
            let waiting = waitingByAccount.removeValue(forKey: row.integer(0)) ?? 0
            guard differences.count < 100, row.integer(1) != waiting else { return }
            differences.append(
                "uid \(row.integer(0)) counts \(row.integer(1)) waiting alerts, but has "
                    + "\(waiting)")
        }
        for (uid, waiting) in waitingByAccount where waiting > 0 && differences.count < 100 {
            differences.append("uid \(uid) counts no waiting alerts, but has \(waiting)")
        }
        return differences
    }
}

extension Database {
    /// Where the numbers given next are not the ones after the last; see
    /// <https://sqlite.org/autoinc.html>.
    ///
    /// Each table's own number, found without an index, says which was the last one; a restore has
    /// made the next ones go on from another number, of which the log tells.
    func numberingFaults(
        alerts: GivenNumbers, responses: GivenNumbers
    ) throws -> [String] {
        var given: [String: [Int64?]] = [:]
        try forEach("SELECT name, seq FROM sqlite_sequence", []) { row in
            let isNumber = row.raw(1).kind == .integer
            given[row.text(0), default: []].append(isNumber ? row.integer(1) : nil)
        }
        var faults: [String] = []
        for (table, column, told) in [("alerts", "id", alerts), ("responses", "seq", responses)] {
            let found =
                try first("SELECT max(\(column)) FROM \(table) NOT INDEXED") { $0.integer(0) } ?? 0
            let last = max(found, (told.start ?? 1) - 1)
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
