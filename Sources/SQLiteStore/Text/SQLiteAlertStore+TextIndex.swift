import AlertCore
import SQLite

extension SQLiteAlertStore: Maintenance {
    package nonisolated(nonsending) func indexTexts(
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        let total = try await unindexedCount()
        var left = total
        while left > 0 {
            guard !Task.isCancelled else {
                throw .busy("the search was cancelled before all texts were indexed; try again")
            }
            do throws(AlertError) {
                left = try await indexSomeTexts()
            } catch .backup {
                // Nothing is written to a backup: a search reads the rest.
                return
            }
            progress(max(0, total - left), total)
            // Processes that wait for the writer lock get it now: the lock itself is not fair.
            if left > 0 { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Adds the words of some more responses to the index; returns how many are left.
    nonisolated(nonsending) func indexSomeTexts() async throws(AlertError) -> Int {
        try await commits.perform(.upkeep, "index the texts") { context in
            do {
                return try context.indexSlice()
            } catch let error as SQLiteError where error.isDamage {
                throw AlertError.damagedIndex(error)
            }
        }
    }

    package nonisolated(nonsending) func unindexedCount() async throws(AlertError) -> Int {
        try await read("look at the search index") { try $0.unindexedCount() }
    }

    package nonisolated(nonsending) func emptyTextIndex() async throws(AlertError) {
        try await commits.perform(.upkeep, "empty the search index") { try $0.emptyIndex() }
    }

    package nonisolated(nonsending) func checkTextIndex() async throws(AlertError) {
        // A separate connection: the reading one may not even create a temporary table.
        let check = QueueConfined(DatabaseFile(files: files), label: "alertq.index")
        let head = try await read("read the audit log") { try $0.lastHead() }
        try await check.run { file throws(AlertError) in
            try storing("check the search index") {
                do {
                    try file.openExisting(continuing: head).handle.checkTextIndex()
                } catch let error as SQLiteError where error.isDamage {
                    throw AlertError.damagedIndex(error)
                }
            }
        }
    }
}

extension Database {
    /// Reads every word's positions; see
    /// <https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module>.
    fileprivate func checkTextIndex() throws {
        try execute(
            "CREATE VIRTUAL TABLE temp.index_words USING fts5vocab (main, text_index, row)")
        try reading {
            _ = try first("SELECT count(*), sum(doc) FROM temp.index_words") { $0.integer() }
            let last = try first("SELECT coalesce(max(seq), 0) FROM responses") { $0.integer() }
            guard let last, try upkeep().indexed <= last else {
                throw AlertError.storage(
                    operation: "use the search index",
                    "it extends beyond the responses")
            }
        }
    }
}
