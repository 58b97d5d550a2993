import AlertCore
import FoundationEssentials
import SQL
import TextFormats

/// A store of tables that can erase old texts.
///
/// Rows lose their texts in small transactions. What databases keep of removed rows, in unused parts
/// of pages, goes in the end, all at once; the number of erasures in the tables tells whether it has.
package protocol ErasingTableStore: TableStore, Erasing {
    /// - Throws: ``AlertError/notPermitted(path:_:)``, ``AlertError/storage(operation:_:)`` if this
    ///   account, or the disk, does not let the tables be rewritten.
    nonisolated(nonsending) func checkMayRewrite() async throws(AlertError)

    /// Runs the erasure of some texts in a transaction; `ErasingTransaction` says how many.
    nonisolated(nonsending) func eraseSlice(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) async throws(AlertError) -> ErasedSlice

    /// Rewrites the tables, so that nothing of what was removed from them is left, and stores which
    /// erasures are complete with that; ends early when its task is cancelled.
    nonisolated(nonsending) func rewrite(
        completing erasures: Int64, _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError)
}

extension Query {
    /// The table with the number of erasures.
    private static func upkeep(_ sql: SQLDialect) -> String {
        sql == .sqlite ? "upkeep" : "heads"
    }

    /// How often texts were erased, if that is not known to be complete.
    fileprivate var unfinishedErasures: Statement { self(Self.unfinishedErasures) }

    private static let unfinishedErasures = SQLText { sql in
        let table = upkeep(sql)
        return """
            SELECT erasures FROM \(table) WHERE \(sql.own(table))erasures <> erasures_done
            """
    }

    fileprivate var countErasure: Statement { self(Self.countErasure) }

    private static let countErasure = SQLText { sql in
        let table = upkeep(sql)
        return "UPDATE \(table) SET erasures = erasures + 1 WHERE \(sql.own(table))true"
    }

    /// Stores that so many erasures are complete.
    package func complete(_ erasures: Int64) -> Statement {
        self(Self.complete, .integer(erasures))
    }

    private static let complete = SQLText { sql in
        let table = upkeep(sql)
        let most = sql.greater("erasures_done", "$2")
        return "UPDATE \(table) SET erasures_done = \(most) WHERE \(sql.own(table))true"
    }
}

extension ErasingTableStore {
    package nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport {
        let found = try await survey(before: date, by: stored(caller))
        var report = found.report
        report.erased = found.ids.count
        report.isComplete = try await isErasureComplete()
        return report
    }

    package nonisolated(nonsending) func isErasureComplete() async throws(AlertError) -> Bool {
        try await unfinishedErasures() == nil
    }

    private nonisolated(nonsending) func unfinishedErasures() async throws(AlertError) -> Int64? {
        try await read("look for an erasure") { try $0.first($0.query.unfinishedErasures) }
    }

    package nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, rewritesFile: Bool,
        progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport {
        if let refusal { throw refusal }
        let caller = stored(caller)
        // Before anything is erased.
        if rewritesFile { try await checkMayRewrite() }
        let found = try await survey(before: date, by: caller)
        var report = found.report
        var rest = found.ids[...]
        while !rest.isEmpty, !Task.isCancelled {
            let slice = try await eraseSlice(of: rest, by: caller)
            rest = rest.dropFirst(slice.seen)
            report.erased += slice.erased
            report.contradicted += slice.contradicted
            progress(
                PurgeProgress(
                    phase: .texts, done: found.ids.count - rest.count, total: found.ids.count))
        }
        if rewritesFile, !Task.isCancelled, let erasures = try await unfinishedErasures() {
            try await rewrite(completing: erasures, progress)
        }
        report.isComplete = try await isErasureComplete()
        return report
    }

    /// Finds the alerts whose texts can be erased, and counts the others that are old enough.
    private nonisolated(nonsending) func survey(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> ErasableAlerts {
        let cutoff = Timestamp.milliseconds(date)
        return try await readAside("look for old responses") { tables in
            var found = ErasableAlerts(for: caller)
            try tables.collect(tables.query.erasable(before: cutoff), into: &found)
            return found
        }
    }
}

extension TableTransaction where Self: ErasingTransaction {
    /// Erases the texts of the first of some alerts, and counts that.
    package func eraseSlice(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) throws -> ErasedSlice {
        let slice = try eraseTexts(of: ids, by: caller)
        if slice.erased > 0 { try write(query.countErasure) }
        return slice
    }
}
