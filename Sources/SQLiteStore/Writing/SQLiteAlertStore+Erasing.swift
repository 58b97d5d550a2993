import AlertCore
import FoundationEssentials
import Glibc
import Linux
import SQLite
import Synchronization

extension SQLiteAlertStore: Erasing {
    /// How long an erasure waits for readers.
    private static let readersTime = Duration.seconds(5)

    package nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport {
        var survey = Survey(before: date, by: caller)
        var report = PurgeReport()
        while let page = try await page(&survey) {
            report.erased += page.erasable.count
            report.uncollected += page.uncollected
            report.handled += page.handled
            report.others += page.others
        }
        report.isComplete = try await isErasureComplete()
        return report
    }

    package nonisolated(nonsending) func isErasureComplete() async throws(AlertError) -> Bool {
        let upkeep = try await read("look for an erasure") { try $0.upkeep() }
        return upkeep.erasures == upkeep.erasuresDone
    }

    package nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, rewritesFile: Bool,
        progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport {
        // Before anything is erased, and again when the log is empty.
        if rewritesFile { try files.checkRoomToRewrite() }
        var report = PurgeReport()
        let total = try await eraseTexts(before: date, by: caller, &report, progress)
        progress(PurgeProgress(phase: .texts, done: total, total: total))
        report.isComplete =
            Task.isCancelled || !rewritesFile
            ? try await isErasureComplete() : try await completeErasure(progress)
        return report
    }

    /// Erases texts page by page; returns how many responses are old enough.
    private nonisolated(nonsending) func eraseTexts(
        before date: Date, by caller: Caller, _ report: inout PurgeReport,
        _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> Int {
        let cutoff = Timestamp.milliseconds(date)
        let total = try await read("count old responses") { db in
            try db.first(
                """
                SELECT count(*) FROM alerts INDEXED BY alerts_outcome
                WHERE outcome IS NOT NULL AND resolved_ms < ?
                """, .integer(cutoff)
            ) { Int($0.integer()) } ?? 0
        }
        var survey = Survey(before: date, by: caller)
        var done = 0
        while !Task.isCancelled, let page = try await page(&survey) {
            report.uncollected += page.uncollected
            report.handled += page.handled
            report.others += page.others
            var rest = page.erasable[...]
            while !rest.isEmpty, !Task.isCancelled {
                let ids = Array(rest)
                let slice = try await commits.perform(.upkeep, "erase texts") {
                    context in
                    try TextEraser(context: context).erase(ids, before: cutoff, by: caller)
                }
                rest = rest.dropFirst(slice.seen)
                report.erased += slice.erased
                report.contradicted += slice.contradicted
                progress(
                    PurgeProgress(
                        phase: .texts, done: min(total, done + page.count - rest.count),
                        total: total))
                // Processes that wait for the writer lock get it now.
                try? await Task.sleep(for: .milliseconds(1))
            }
            done += page.count
        }
        return total
    }

    /// Makes sure that no file contains erased texts any longer; returns whether that is so, which
    /// is not the case after a cancel.
    private nonisolated(nonsending) func completeErasure(
        _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> Bool {
        let upkeep = try await read("look for an erasure") { try $0.upkeep() }
        guard upkeep.erasures > upkeep.erasuresDone else { return true }
        var (merges, total, goesOn) = (0, 0, true)
        while goesOn {
            guard !Task.isCancelled else { return false }
            let isFirst = merges == 0
            let (more, count) = try await commits.perform(.upkeep, "merge the search index") {
                (try $0.mergeIndex(isFirst: isFirst), isFirst ? try $0.mergeCount() : 0)
            }
            merges += 1
            total += count
            goesOn = more
            progress(PurgeProgress(phase: .index, done: merges, total: max(total, merges)))
            try? await Task.sleep(for: .milliseconds(1))
        }
        return try await rewriteFile(erasures: upkeep.erasures, progress)
    }

    /// Rewrites the database; returns whether it was done, and not cancelled.
    private nonisolated(nonsending) func rewriteFile(
        erasures: Int64, _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> Bool {
        progress(PurgeProgress(phase: .file, done: 0, total: 1))
        let limit = ContinuousClock.now + Self.readersTime
        while true {
            do throws(AlertError) {
                let isDone = try await rewriteFileOnce(erasures: erasures)
                if isDone { progress(PurgeProgress(phase: .file, done: 1, total: 1)) }
                return isDone
            } catch {
                guard case .busy = error, ContinuousClock.now < limit, !Task.isCancelled else {
                    throw error
                }
                // The lock is free for a moment, so that answers can be stored.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private nonisolated(nonsending) func rewriteFileOnce(
        erasures: Int64
    ) async throws(AlertError) -> Bool {
        let isCancelled = Mutex(false)
        let outcome: Result<Bool, AlertError> = await withTaskCancellationHandler {
            do throws(AlertError) {
                return .success(
                    try await commits.performAlone(
                        "rewrite the database", after: { try $0.touch() }
                    ) { writer in
                        try writer.rewriteFile(erasures: erasures) {
                            isCancelled.withLock { $0 }
                        }
                    })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try outcome.get()
    }

    private nonisolated(nonsending) func page(
        _ survey: inout Survey
    ) async throws(AlertError) -> Survey.Page? {
        let start = survey
        let page = try await read("look for old responses") { try start.page($0) }
        survey.last = page?.last ?? survey.last
        return page
    }
}

/// A walk through the responses that are older than a date, oldest first.
private struct Survey: Sendable {
    private static let pageLength = 2000

    struct Page: Sendable {
        var count = 0
        var erasable: [Alert.ID] = []
        var uncollected = 0
        var handled = 0
        var others = 0
        var last: HistoryWalk.Position?
    }

    let cutoff: Int64
    let caller: Caller
    var last: HistoryWalk.Position?

    init(before date: Date, by caller: Caller) {
        cutoff = Timestamp.milliseconds(date)
        self.caller = caller
    }

    private enum Column: Int, ColumnList {
        case awaitsCollection, isErased, sourceUid, isHandlers

        var sql: String {
            switch self {
            case .awaitsCollection: TextEraser.awaitsCollection
            case .isErased: "salt IS NULL"
            case .sourceUid: "sources.uid"
            case .isHandlers: "handler IS NOT NULL"
            }
        }
    }

    /// The next responses; `nil` after the last one.
    ///
    /// Those of other accounts count towards its length, so that one look is short even if there
    /// are many of them.
    func page(_ db: Database) throws -> Page? {
        var walk = HistoryWalk(db: db, HistoryFilter())
        walk.until = cutoff
        walk.isNewestFirst = false
        let found = try walk.look(after: last, limit: Self.pageLength).found
        var page = Page(count: found.count, last: found.last?.position)
        for response in found { try add(response.id, to: &page, db) }
        return page.count == 0 ? nil : page
    }

    private func add(_ id: Alert.ID, to page: inout Page, _ db: Database) throws {
        _ = try db.first(
            """
            SELECT \(Column.list) FROM alerts JOIN sources ON sources.id = source_id
            WHERE alerts.id = ?
            """, .integer(id)
        ) { row in
            guard row.integer(Column.isErased) == 0 else { return }
            if !(UInt32(exactly: row.integer(Column.sourceUid)).map(caller.hasRight) ?? false) {
                page.others += 1
            } else if row.integer(Column.awaitsCollection) == 1 {
                page.uncollected += 1
                page.handled += Int(row.integer(Column.isHandlers))
            } else {
                page.erasable.append(id)
            }
        }
    }
}

/// The space that a queue's files take and leave, and the processes that block emptying its log.
package struct QueueSpace: Sendable {
    /// At this size, in bytes, the write-ahead log has not been restarted for a long time: that
    /// normally happens at about 4 MiB.
    package static let longLog: Int64 = 16 << 20
    /// The space that is reserved for answers on a full disk, in bytes.
    package static let fullReserve = Int64(DiskReserve.size)

    /// The size of the write-ahead log in bytes.
    package let log: Int64
    /// What is left of the reserved space, in bytes; `nil` before the first alert.
    package let reserve: Int64?
    /// The disk space that this user may still use, in bytes; `nil` if it is unknown.
    package let free: Int64?
    private let sharedMemory: FileIdentity?

    /// Examines the files next to a database.
    ///
    /// - Throws: The errors of an unusable path.
    package init(database: String) throws(AlertError) {
        let files = try QueueFiles(database: database)
        log = FileIdentity(path: files.wal)?.size ?? 0
        reserve = FileIdentity(path: files.reserve)?.size
        sharedMemory = FileIdentity(path: files.sharedMemory)
        var system = statvfs()
        free =
            statvfs(files.database, &system) == 0
            ? Int64(clamping: system.f_bavail).multipliedReportingOverflow(
                by: Int64(clamping: system.f_frsize)
            ).partialValue : nil
    }

    /// Whether less than 1 MiB is free beyond the space that is, or must be, reserved.
    package var isFull: Bool {
        guard let free else { return false }
        return (reserve ?? 0) + free < Self.fullReserve + (1 << 20)
    }

    /// The other processes that are currently in a read transaction.
    ///
    /// A reader holds a lock on one of five bytes of the shared memory; see
    /// <https://sqlite.org/walformat.html#wal_locks> and `/proc/locks` in proc(5).
    package func readers() -> Set<LinuxProcess> {
        guard let sharedMemory else { return [] }
        return FileLocks(sharedMemory).readers(from: Self.readLocks).filter { $0.pid != getpid() }
    }

    /// The bytes of SQLite's read locks in the shared memory.
    private static let readLocks = 123...127
}
