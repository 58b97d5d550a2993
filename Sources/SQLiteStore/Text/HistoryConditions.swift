import AlertCore
import SQLite

/// The conditions of a filter on a row of `responses`.
struct HistoryConditions {
    static let none = HistoryConditions(HistoryFilter())

    /// The conditions, each beginning with `AND`.
    private(set) var sql = ""
    private(set) var values: [Value] = []

    var isEmpty: Bool { sql.isEmpty }

    init(_ filter: HistoryFilter) {
        if let source = filter.source { add("source = ?", .text(source)) }
        if let key = filter.key { add("key = ?", .text(key)) }
        if let outcome = filter.outcome { add("outcome = ?", .text(outcome.rawValue)) }
        if let button = filter.button { add("button = ?", .text(button)) }
        if let by = filter.by { add("resolved_by = ?", .text(by.rawValue)) }
        if let user = filter.user { add("user = ?", .text(user)) }
        if let via = filter.via { add("via = ?", .text(via)) }
        if filter.uncollected { add("collected_ms IS NULL") }
        if let since = filter.since {
            add("resolved_ms >= ?", .integer(Timestamp.milliseconds(since)))
        }
        if let until = filter.until {
            add("resolved_ms < ?", .integer(Timestamp.milliseconds(until)))
        }
    }

    private mutating func add(_ condition: String, _ values: Value...) {
        sql += " AND responses." + condition
        self.values += values
    }
}
