import AlertCore
import FoundationEssentials
import SQLite

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
        before date: Date, by caller: Caller, progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport {
        var report = PurgeReport()
        let total = try await eraseTexts(before: date, by: caller, &report, progress)
        progress(PurgeProgress(phase: .texts, done: total, total: total))
        report.isComplete =
            Task.isCancelled ? try await isErasureComplete() : try await completeErasure(progress)
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
                "SELECT count(*) FROM responses WHERE resolved_ms < ?", .integer(cutoff)
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
        var next: Int? = 0
        while let page = next {
            guard !Task.isCancelled else { return false }
            let cleared = try await clearUnallocatedSpace(from: page, erasures: upkeep.erasures)
            next = cleared.next
            progress(
                PurgeProgress(
                    phase: .file, done: next ?? cleared.total, total: cleared.total))
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    private nonisolated(nonsending) func clearUnallocatedSpace(
        from page: Int, erasures: Int64
    ) async throws(AlertError) -> (next: Int?, total: Int) {
        let limit = ContinuousClock.now + Self.readersTime
        while true {
            do throws(AlertError) {
                return try await commits.performAlone("overwrite unallocated space") { writer in
                    try writer.clearUnallocatedSpace(from: page, erasures: erasures)
                }
            } catch {
                guard case .busy = error, ContinuousClock.now < limit, !Task.isCancelled else {
                    throw error
                }
                // The lock is free for a moment, so that answers can be stored.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
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

    struct Position: Sendable {
        var resolved = Int64.min
        var sequence: Int64 = 0
    }

    struct Page: Sendable {
        var count = 0
        var erasable: [Alert.ID] = []
        var uncollected = 0
        var handled = 0
        var others = 0
        var last = Position()
    }

    let cutoff: Int64
    let caller: Caller
    var last = Position()

    init(before date: Date, by caller: Caller) {
        cutoff = Timestamp.milliseconds(date)
        self.caller = caller
    }

    private enum Column: Int, ColumnList {
        case resolvedMs, seq, alertId, awaitsCollection, isErased, sourceUid, isHandlers

        var sql: String {
            switch self {
            case .awaitsCollection: TextEraser.awaitsCollection
            case .isErased: "salt IS NULL"
            case .sourceUid: "sources.uid"
            case .isHandlers: "responses.handler IS NOT NULL"
            default: snakeCased
            }
        }
    }

    /// The next responses; `nil` after the last one.
    ///
    /// Those of other accounts count towards its length, so that one look is short even if there
    /// are many of them.
    func page(_ db: Database) throws -> Page? {
        var page = Page()
        try db.forEach(
            """
            SELECT \(Column.list)
            FROM responses INDEXED BY responses_time
            CROSS JOIN alerts ON alerts.id = alert_id
            CROSS JOIN sources ON sources.id = source_id
            WHERE resolved_ms < ? AND (resolved_ms, seq) > (?, ?)
            ORDER BY resolved_ms, seq LIMIT ?
            """,
            [
                .integer(cutoff), .integer(last.resolved), .integer(last.sequence),
                .integer(Self.pageLength),
            ]
        ) { row in
            page.count += 1
            page.last = Position(
                resolved: row.integer(Column.resolvedMs), sequence: row.integer(Column.seq))
            guard row.integer(Column.isErased) == 0 else { return }
            if !(UInt32(exactly: row.integer(Column.sourceUid)).map(caller.hasRight) ?? false) {
                page.others += 1
            } else if row.integer(Column.awaitsCollection) == 1 {
                page.uncollected += 1
                page.handled += Int(row.integer(Column.isHandlers))
            } else {
                page.erasable.append(row.integer(Column.alertId))
            }
        }
        return page.count == 0 ? nil : page
    }
}
