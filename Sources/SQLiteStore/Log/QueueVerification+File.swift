import AlertCore
import AlertTables
import SQLite

extension QueueVerification {
    /// Reads what has not been read yet, and compares the rows as a whole with the log; all of that
    /// is of one moment.
    mutating func finish(_ db: Database, at now: ClockReading) throws {
        try readRest(db, at: now) { _ in
            guard !Task.isCancelled else { throw AlertError.cancelled("the verification") }
        }
        do {
            if let fault = verifier.alerts.fault(ifFirst: try db.upkeep().firstID) { add([fault]) }
        } catch let error as AlertError {
            guard case .inconsistent(_, let reason) = error else { throw error }
            add([reason])
        }
    }

    /// The report, with the faults that SQLite has found in the file.
    mutating func report(damage: [String]) -> AuditReport {
        add(damage.map { "the file is damaged: \($0)" })
        return report()
    }
}
