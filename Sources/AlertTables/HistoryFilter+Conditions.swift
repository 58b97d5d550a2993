import AlertCore
import SQL

// The conditions of a filter, except those on words and times; a store joins them.
extension HistoryFilter {
    /// Those on rows of `sources`.
    package func sourceConditions(_ values: inout NumberedValues) -> [String] {
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
    ///
    /// - Parameter chosen: An expression for the id of the chosen button, in the database's words.
    package func otherConditions(
        _ values: inout NumberedValues, chosen: String
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
        if let button { conditions.append("\(chosen) = \(values.add(.text(button)))") }
        return conditions
    }
}
