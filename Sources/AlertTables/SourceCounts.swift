import AlertCore
import SQL

/// The sources of a queue and how many of their alerts wait, as a verification compares them.
package struct SourceCounts {
    /// The columns of `sources`, joined with `source_id` and the count `waiting` of those of its
    /// alerts that wait, in the order of the ids.
    package enum Column: Int, ColumnList {
        case host, uid, name, pending, waiting, ofAccount, isRepeated, isAccount

        package var sql: String {
            switch self {
            case .host, .uid, .name, .pending: snakeCased
            case .waiting: "coalesce(waiting, 0)"
            case .ofAccount: "coalesce(sum(waiting) OVER (PARTITION BY host, uid), 0)"
            case .isRepeated:
                "CASE WHEN row_number() OVER (PARTITION BY host, uid, name ORDER BY id) > 1 "
                    + "THEN 1 ELSE 0 END"
            // An account is the source without a name; the first of its rows stands for a missing
            // one.
            case .isAccount:
                "CASE WHEN row_number() OVER (PARTITION BY host, uid ORDER BY name <> '', id) = 1 "
                    + "THEN 1 ELSE 0 END"
            }
        }
    }

    private var (ofSources, ofAccounts): ([String], [String]) = ([], [])

    package init() {}

    /// The sources and accounts that count other numbers of waiting alerts than their rows have, and
    /// those that appear twice: the first hundred.
    package var faults: [String] { Array((ofSources + ofAccounts).prefix(100)) }

    package mutating func add(_ row: borrowing some SQLRow & ~Copyable) {
        let (host, name) = (row.text(Column.host), row.text(Column.name))
        let uid = "\(row.integer(Column.uid))" + (host.isEmpty ? "" : " of \(host)")
        let (counted, waiting) = (row.integer(Column.pending), row.integer(Column.waiting))
        let isRight = name.isEmpty ? waiting == 0 : counted == waiting
        if !row.isInteger(at: Column.pending.index) || !isRight {
            ofSources.append(
                "the source “\(name)” of uid \(uid) counts \(counted) waiting alerts, but has "
                    + "\(waiting)")
        }
        if !row.isUID(Column.uid) { ofSources.append("the source “\(name)” has an invalid uid") }
        if row.integer(Column.isRepeated) == 1 {
            ofSources.append("the source “\(name)” of uid \(uid) appears twice")
        }
        let (ofAccount, known) = (row.integer(Column.ofAccount), name.isEmpty ? counted : 0)
        if row.integer(Column.isAccount) == 1, known != ofAccount {
            ofAccounts.append("uid \(uid) counts \(known) waiting alerts, but has \(ofAccount)")
        }
    }
}
