import AlertCore
import SQL
import TextFormats

// The counts of rows of `alerts`, joined with those of `sources`.
extension StatisticsTally {
    /// Alerts that have the first five of these columns in common.
    package enum Group: Int, ColumnList {
        case source, outcome, buttonIndex, buttons, isUnseen, count, uncollected, firstAsked

        package static let common = "1, 2, 3, 4, 5"

        package var sql: String {
            switch self {
            case .source: "sources.name"
            case .outcome, .buttonIndex: snakeCased
            case .buttons: "CASE WHEN button_index >= 0 THEN buttons END"
            case .isUnseen: "CASE WHEN presented_ms IS NULL THEN 1 ELSE 0 END"
            case .count: "count(*)"
            case .uncollected:
                "count(CASE WHEN outcome IS NOT NULL AND collected_ms IS NULL THEN 1 END)"
            case .firstAsked: "min(asked_ms)"
            }
        }
    }

    package mutating func addGroup(_ row: borrowing some SQLRow & ~Copyable) {
        let outcome = row.optionalText(Group.outcome).flatMap(Outcome.init(rawValue:))
        let isUnseen = row.integer(Group.isUnseen) == 1
        let count = Int(row.integer(Group.count))
        addAlerts(
            count, of: row.text(Group.source), outcome, isUnseen: isUnseen,
            uncollected: Int(row.integer(Group.uncollected)),
            firstAsked: row.integer(Group.firstAsked))
        guard let buttons = row.optionalText(Group.buttons), let outcome else { return }
        let index = Int(row.integer(Group.buttonIndex))
        addChoices(
            count, of: StoredJSON.button(at: index, in: buttons)?.id ?? "#\(index)", outcome,
            isUnseen: isUnseen)
    }

    /// Alerts that were asked in the same quarter of an hour, and ended alike.
    package enum Quarter: Int, ColumnList {
        case quarter, outcome, isUnseen, count

        package static let common = "1, 2, 3"
        private static let length: Int64 = 900_000

        package var sql: String {
            switch self {
            case .quarter: "asked_ms / \(Self.length)"
            case .outcome: snakeCased
            case .isUnseen: Group.isUnseen.sql
            case .count: Group.count.sql
            }
        }

        fileprivate static func start(_ row: borrowing some SQLRow & ~Copyable) -> Int64 {
            row.integer(Self.quarter) * length
        }
    }

    package mutating func addQuarter(_ row: borrowing some SQLRow & ~Copyable) {
        addToDay(
            Int(row.integer(Quarter.count)), askedAt: Quarter.start(row),
            row.optionalText(Quarter.outcome).flatMap(Outcome.init(rawValue:)),
            isUnseen: row.integer(Quarter.isUnseen) == 1)
    }

    /// An answer, and its times.
    package enum Answer: Int, ColumnList {
        case resolvedMs, askedMs, presentedMs, source, user

        package var sql: String {
            switch self {
            case .resolvedMs, .askedMs, .presentedMs: snakeCased
            case .source: Group.source.sql
            case .user: "coalesce(responder_name, responder)"
            }
        }
    }

    /// The condition of answers that count: policies and timers say nothing about people.
    package static let isByPerson = "outcome = 'answered' AND resolved_by = 'person'"

    package mutating func addAnswer(_ row: borrowing some SQLRow & ~Copyable) {
        let (asked, resolved) = (row.integer(Answer.askedMs), row.integer(Answer.resolvedMs))
        addAnswer(
            by: row.optionalText(Answer.user) ?? "", to: row.text(Answer.source), askedAt: asked,
            after: resolved.subtractingBounded(asked),
            fromPresented: row.optionalInteger(Answer.presentedMs).map {
                resolved.subtractingBounded($0)
            })
    }
}
