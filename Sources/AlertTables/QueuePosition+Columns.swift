import AlertCore
import SQL

extension QueuePosition {
    package enum Column: Int, ColumnList { case id, priority, askedMs, askedBootMs, boot }

    package static let columns = Column.list

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        let priority = Alert.Priority(rawValue: Int(clamping: row.integer(Column.priority)))
        self.init(
            id: row.integer(Column.id), priority: priority ?? .normal,
            asked: ClockReading(
                wallMilliseconds: row.integer(Column.askedMs),
                bootMilliseconds: row.integer(Column.askedBootMs), boot: row.text(Column.boot)))
    }
}
