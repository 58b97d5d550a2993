import AlertCore
import SQL

/// A table that a copy of a queue takes along, in the order in which they are filled.
///
/// What else a store has is about one place, such as screens and a search index.
package enum CopiedTable: String, CaseIterable, Sendable {
    case sources, alerts, audit, turns, requests

    /// The columns that every store has.
    package var columns: [String] {
        switch self {
        case .sources: ["id", "principal", "name", "pending"]
        case .alerts: Self.moreColumns + AlertRow.tableColumns
        case .audit: AuditEntry.columns
        case .turns: ["principal_id", "source_id", "priority", "seq"]
        case .requests:
            ["principal", "request", "position", "alert_id", "seq", "made_ms"]
        }
    }

    /// The columns of an alert that are not read as a part of its ``AlertRow``, whose columns follow.
    private static let moreColumns = ["source_id", "queued_seq"]

    /// The values of the ``AlertRow`` in a row of ``alerts``, with those of a source.
    package static func alertRow(in values: [Value], source: [Value]) -> ValueRow {
        ValueRow(values.dropFirst(moreColumns.count) + source)
    }

    /// How many of its first columns are ids of ``sources``, which another store may give other ids.
    package var sourceIDs: Int {
        switch self {
        case .sources, .alerts: 1
        case .turns: 2
        case .audit, .requests: 0
        }
    }

    /// The columns by which rows are ordered.
    package var order: String {
        switch self {
        case .sources, .alerts: "id"
        case .audit: "seq"
        case .turns: "priority, principal_id, source_id"
        case .requests: "made_ms"
        }
    }
}

/// What is copied beside the rows.
package struct CopiedQueue: Sendable {
    /// The end of the log, without the entries that say that the queue has moved.
    package var head: AuditHead
    /// The lowest id that the next alert may get.
    package var firstID: Alert.ID
    /// How many alerts there are.
    package var alerts: Int
    /// The machine whose accounts have no host; `nil` in a file, which is on that machine.
    package var home: String?
    /// The move by an earlier copy; `nil` if there is none.
    package var move: QueueMove?
    /// The head that the copy's log must have; `nil` for an empty log.
    package var savedHead: AuditHead? { head == .start ? nil : head }

    package init(
        head: AuditHead, firstID: Alert.ID, alerts: Int, home: String?, move: QueueMove?
    ) {
        self.head = head
        self.firstID = firstID
        self.alerts = alerts
        self.home = home
        self.move = move
    }
}

/// A queue to which nothing is written while it is copied, nor afterwards.
package protocol CopySource: AnyObject {
    var contents: CopiedQueue { get }

    /// Visits the rows of a table in their order, with the values of its columns.
    func visit(_ table: CopiedTable, _ body: ([Value]) throws -> Void) throws

    /// Adds an entry that the queue goes on elsewhere, and commits it.
    func mark(as move: QueueMove) throws
}

/// A new queue, which nobody sees until it is complete.
package protocol CopyTarget: AnyObject {
    func insert(_ values: [Value], into table: CopiedTable) throws

    /// Stores what is copied beside the rows, makes the search index, and verifies the log.
    func finish(_ queue: CopiedQueue, at now: ClockReading) throws -> AuditReport

    /// Makes the queue appear.
    func publish() throws
}

/// Moves a queue to another place: its rows are copied, so that its log has the same head there.
///
/// At no moment do both places accept changes. The old one is marked before the new one appears, and
/// again once it has: a move that ended in between goes on when it is repeated.
package struct QueueCopy {
    private let place: String

    /// - Parameter place: Where the queue goes on, for its log.
    package init(to place: String) { self.place = place }

    /// - Parameter progress: Called with the current step, how many rows are done, and the total.
    /// - Throws: ``AlertError/invalid(_:_:)`` for a queue that does not verify.
    package func run(
        from source: some CopySource, to target: some CopyTarget,
        _ progress: (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) throws -> CopyReport {
        let queue = source.contents
        let total = Int(queue.head.sequence.addingBounded(Int64(queue.alerts)))
        var done = 0
        var machines: Set<String> = []
        for table in CopiedTable.allCases {
            try source.visit(table) { values in
                try target.insert(values, into: table)
                if table == .sources, case .text(let text) = values[1],
                    let account = Principal(text: text)?.account
                {
                    machines.insert(account.host)
                }
                guard table == .alerts || table == .audit else { return }
                done += 1
                guard done % 500 == 0 else { return }
                guard !Task.isCancelled else { throw AlertError.cancelled("the copy") }
                progress(.copying, done, total)
            }
        }
        progress(.verifying, 0, total)
        let report = try target.finish(queue, at: SystemClock().now())
        if let problem = report.problems.first {
            throw AlertError.invalid(
                "queue", "does not verify, so it is not copied: \(problem.reason)")
        }
        guard !Task.isCancelled else { throw AlertError.cancelled("the copy") }
        if queue.move?.place != place {
            try source.mark(as: QueueMove(to: place, hasArrived: false))
        }
        try target.publish()
        try source.mark(as: QueueMove(to: place, hasArrived: true))
        return CopyReport(
            head: queue.head, alerts: queue.alerts, place: place,
            machines: machines.subtracting([""]).sorted(),
            home: machines.contains("") ? queue.home : nil)
    }
}

extension AlertError {
    /// The error that a queue can't be copied to where it is.
    package static var sameQueue: AlertError {
        .invalid("place TO", "is that of FROM: FROM and TO are the same queue")
    }
}

/// The result of a copy.
package struct CopyReport: Sendable {
    /// The end of the log in both places.
    package let head: AuditHead
    package let alerts: Int
    /// Where the queue goes on.
    package let place: String
    /// The machines that accounts of it name.
    package let machines: [String]
    /// The machine whose accounts have no host, if there are any and that was known.
    package let home: String?

    package init(
        head: AuditHead, alerts: Int, place: String, machines: [String] = [], home: String? = nil
    ) {
        self.machines = machines
        self.home = home
        self.head = head
        self.alerts = alerts
        self.place = place
    }
}
