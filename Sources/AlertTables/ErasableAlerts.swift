import AlertCore
import SQL

/// The alerts with old responses: those whose texts an account may erase, and the numbers of others.
package struct ErasableAlerts: RowCollector, Sendable {
    package private(set) var ids: [Alert.ID] = []
    package private(set) var report = PurgeReport()
    private let caller: Caller

    package init(for caller: Caller) { self.caller = caller }

    /// The columns of a row of `alerts` with that of its source.
    package enum Column: Int, ColumnList {
        case id, principal, awaitsCollection, isHandlers

        package var sql: String {
            switch self {
            case .id: "alerts.id"
            case .principal: "sources.principal"
            // It need not be collected if the alert was withdrawn or had no buttons, unless it names
            // a handler. `StoredAlert.awaitsCollection` is the same in Swift.
            case .awaitsCollection:
                """
                CASE WHEN collected_ms IS NULL AND (handler IS NOT NULL
                    OR (outcome <> 'withdrawn' AND buttons <> '[]')) THEN 1 ELSE 0 END
                """
            case .isHandlers: "CASE WHEN handler IS NOT NULL THEN 1 ELSE 0 END"
            }
        }
    }

    package mutating func add(_ row: borrowing some SQLRow & ~Copyable) {
        if Principal(text: row.text(Column.principal)).map(caller.hasRight) != true {
            report.others += 1
        } else if row.integer(Column.awaitsCollection) == 1 {
            report.uncollected += 1
            report.handled += Int(row.integer(Column.isHandlers))
        } else {
            ids.append(row.integer(Column.id))
        }
    }
}
