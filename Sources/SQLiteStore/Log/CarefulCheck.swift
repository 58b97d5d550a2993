import AlertCore
import SQLite
import Synchronization

/// A careful check that is continued by several reads, without copying what it keeps.
final class CarefulCheck: Sendable {
    private let check: Mutex<AuditCheck>

    init(expecting head: AuditHead?) {
        check = Mutex(AuditCheck(expecting: head))
    }

    var report: AuditReport { check.withLock { $0.report } }

    func readPage(_ db: Database) throws -> Bool {
        try check.withLock { try $0.readPage(db) }
    }

    func finish(_ db: Database, at now: ClockReading) throws -> AuditReport {
        try check.withLock { check in
            try check.finish(db, at: now)
            return check.report
        }
    }
}
