import AlertCore
import SQLite

/// The number of waiting alerts by source, counted from the rows.
struct PendingCounts: Sendable {
    private enum Sources: Int, ColumnList { case id, uid, name, pending }
    private enum Accounts: Int, ColumnList { case uid, pending }

    private var counts: [Int64: Int64] = [:]
    /// The accounts for whose turn the alerts of a source wait; more than one is wrong.
    private var accounts: [Int64: Set<Int64?>] = [:]

    /// Counts an alert of a source, which waits for the turn of an account.
    mutating func count(_ source: Int64, account: Int64?) {
        counts[source, default: 0] += 1
        accounts[source, default: []].insert(account)
    }

    /// The sources and accounts whose rows differ, and sources that appear twice.
    func differences(from db: Database) throws -> [String] {
        struct Source: Hashable {
            let uid: Int64
            let name: [UInt8]
        }
        var differences: [String] = []
        var seen: Set<Source> = []
        var waitingByAccount: [Int64: Int64] = [:]
        try db.forEach(
            "SELECT \(Sources.list) FROM sources NOT INDEXED ORDER BY id", []
        ) { row in
            let (id, uid) = (row.integer(Sources.id), row.integer(Sources.uid))
            let name = row.text(Sources.name)
            let waiting = counts[id, default: 0]
            waitingByAccount[uid, default: 0] += waiting
            guard differences.count < 100 else { return }
            let counted = row.integer(Sources.pending)
            if row.raw(Sources.pending).kind != .integer || counted != waiting {
                differences.append(
                    "the source “\(name)” of uid \(uid) counts \(counted) "
                        + "waiting alerts, but has \(waiting)")
            }
            if !row.isUID(Sources.uid) {
                differences.append("the source “\(name)” has an invalid uid")
            }
            if accounts[id, default: [uid]] != [uid] {
                differences.append(
                    "alerts of the source “\(name)” wait for the turn of another account than "
                        + "uid \(uid)")
            }
            let source = Source(uid: uid, name: Array(row.raw(Sources.name).bytes))
            if !seen.insert(source).inserted {
                differences.append("the source “\(name)” of uid \(uid) appears twice")
            }
        }
        try db.forEach(
            "SELECT \(Accounts.list) FROM accounts NOT INDEXED ORDER BY uid", []
        ) { row in
            let uid = row.integer(Accounts.uid)
            let counted = row.integer(Accounts.pending)
            let waiting = waitingByAccount.removeValue(forKey: uid) ?? 0
            guard differences.count < 100, counted != waiting else { return }
            differences.append("uid \(uid) counts \(counted) waiting alerts, but has \(waiting)")
        }
        for (uid, waiting) in waitingByAccount where waiting > 0 && differences.count < 100 {
            differences.append("uid \(uid) counts no waiting alerts, but has \(waiting)")
        }
        return differences
    }
}
