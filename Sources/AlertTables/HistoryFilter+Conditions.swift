import AlertCore
import SQL

// The conditions of a filter, except those on words and times.
extension HistoryFilter {
    /// All of them, on rows of `alerts`.
    package func condition(_ values: inout NumberedValues, _ sql: SQLDialect) -> String {
        var conditions = ["true"]
        if let sources = sources(&values, sql) {
            // A server finds the sources first, if they are an array.
            conditions.append(
                sql == .sqlite
                    ? "alerts.source_id IN (\(sources))"
                    : "alerts.source_id = ANY (ARRAY(\(sources)))")
        }
        conditions += indexedConditions(&values)
        conditions += otherConditions(&values, sql)
        return conditions.joined(separator: " AND ")
    }

    /// A query for the ids of the sources; `nil` for all of them.
    package func sources(_ values: inout NumberedValues, _ sql: SQLDialect) -> String? {
        let conditions = sourceConditions(&values)
        if conditions.isEmpty { return nil }
        return "SELECT id FROM sources WHERE \(sql.own("sources"))"
            + conditions.joined(separator: " AND ")
    }

    /// Those on rows of `sources`.
    private func sourceConditions(_ values: inout NumberedValues) -> [String] {
        var conditions: [String] = []
        if let source { conditions.append("name = \(values.add(.text(source)))") }
        if let asker { conditions.append("principal = \(values.add(.text(asker.text)))") }
        return conditions
    }

    /// Those on rows of `alerts` to which indexes lead.
    package func indexedConditions(_ values: inout NumberedValues) -> [String] {
        var conditions: [String] = []
        if let key { conditions.append("alerts.key = \(values.add(.text(key)))") }
        if let outcome { conditions.append("alerts.outcome = '\(outcome.rawValue)'") }
        if let user { conditions.append("alerts.responder_name = \(values.add(.text(user)))") }
        return conditions
    }

    /// The other ones on rows of `alerts`.
    package func otherConditions(
        _ values: inout NumberedValues, _ sql: SQLDialect
    ) -> [String] {
        var conditions: [String] = []
        if let by { conditions.append("alerts.resolved_by = '\(by.rawValue)'") }
        if let userHost {
            conditions.append("alerts.responder NOT LIKE 'person:%'")
            if userHost.isEmpty {
                conditions.append("alerts.responder NOT LIKE '%@%'")
            } else {
                let end = values.add(.text("@" + userHost))
                let start = "length(alerts.responder) - length(\(end)) + 1"
                conditions.append("substr(alerts.responder, \(start)) = \(end)")
            }
        }
        if let via { conditions.append("alerts.via = \(values.add(.text(via)))") }
        if uncollected { conditions.append("alerts.collected_ms IS NULL") }
        if let button {
            conditions.append("\(Self.chosen(sql)) = \(values.add(.text(button)))")
        }
        return conditions
    }

    /// The id of the chosen button; NULL if there is none, or it has been erased. Invalid JSON is a
    /// matter for the audit log, and no reason for an error here.
    private static func chosen(_ sql: SQLDialect) -> String {
        switch sql {
        case .sqlite:
            """
            iif(alerts.button_index >= 0 AND json_valid(alerts.buttons), \
            alerts.buttons ->> ('$[' || alerts.button_index || '].id'), NULL)
            """
        case .postgreSQL:
            """
            CASE WHEN alerts.button_index >= 0 THEN \
            alerts.buttons::jsonb -> alerts.button_index::int ->> 'id' END
            """
        }
    }
}
