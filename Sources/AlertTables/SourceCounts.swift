import AlertCore
import SQL

/// The sources of a queue and how many of their alerts wait, as a verification compares them.
package struct SourceCounts: RowCollector {
    /// The columns of `sources`, joined with `source_id` and the count `waiting` of those of its
    /// alerts that wait, in the order of the ids.
    package enum Column: Int, ColumnList {
        case principal, name, pending, waiting, ofPrincipal, isRepeated, isPrincipal

        package var sql: String {
            switch self {
            case .principal, .name, .pending: snakeCased
            case .waiting: "coalesce(waiting, 0)"
            case .ofPrincipal: "coalesce(sum(waiting) OVER (PARTITION BY principal), 0)"
            case .isRepeated:
                "CASE WHEN row_number() OVER (PARTITION BY principal, name ORDER BY id) > 1 "
                    + "THEN 1 ELSE 0 END"
            // A principal is the source without a name; the first of its rows stands for a missing
            // one.
            case .isPrincipal:
                "CASE WHEN row_number() OVER (PARTITION BY principal ORDER BY name <> '', id) = 1 "
                    + "THEN 1 ELSE 0 END"
            }
        }
    }

    private var (ofSources, ofPrincipals): ([String], [String]) = ([], [])

    package init() {}

    /// The sources and principals that count other numbers of waiting alerts than their rows have, and
    /// those that appear twice: the first hundred.
    package var faults: [String] { Array((ofSources + ofPrincipals).prefix(100)) }

    package mutating func add(_ row: borrowing some SQLRow & ~Copyable) {
        let (text, name) = (row.text(Column.principal), row.text(Column.name))
        let principal = Principal(text: text)
        let who = principal?.label ?? "“\(text)”"
        let (counted, waiting) = (row.integer(Column.pending), row.integer(Column.waiting))
        let isRight = name.isEmpty ? waiting == 0 : counted == waiting
        if !row.isInteger(at: Column.pending.index) || !isRight {
            ofSources.append(
                "the source “\(name)” of \(who) counts \(counted) waiting alerts, but has "
                    + "\(waiting)")
        }
        if principal == nil {
            ofSources.append(
                "the source “\(name)” is of \(who), which is neither account nor person")
        }
        if row.integer(Column.isRepeated) == 1 {
            ofSources.append("the source “\(name)” of \(who) appears twice")
        }
        let (ofAll, known) = (row.integer(Column.ofPrincipal), name.isEmpty ? counted : 0)
        if row.integer(Column.isPrincipal) == 1, known != ofAll {
            ofPrincipals.append("\(who) counts \(known) waiting alerts, but has \(ofAll)")
        }
    }
}
