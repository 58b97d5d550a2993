import AlertCore
import FoundationEssentials
import Glibc
import Linux
import SQLite

extension SQLiteAlertStore: Backups {
    package nonisolated(nonsending) func backUp(
        to path: String, replaces: Bool, keeping count: Int?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> BackupReport {
        let location = try BackupLocation(path, of: files)
        guard count.map({ $0 > 0 && location.isDirectory }) ?? true else {
            throw .invalid("count of backups", "is for a directory, and at least 1")
        }
        DraftFile.removeLeftovers(in: location.directory, for: location.isName)
        let target = location.path(at: Timestamp.date(milliseconds: clock.now().wallMilliseconds))
        if !location.isDirectory { try BackupLocation.prepare(target, replaces: replaces) }
        let draft = try DraftFile(for: target, mode: 0o600)
        // The copying thread may still reference it when this process ends.
        defer { draft.discard() }
        let reader = QueueConfined(makeReader(), label: "alertq.backup")
        try await reader.run { reader, isCancelled throws(AlertError) in
            try storing("write \(target)") {
                // One transaction for the whole copy, so that other commits don't restart it.
                try reader.read { db in
                    try db.copy(to: draft.path, progress, isCancelled: isCancelled)
                }
            }
        }
        try draft.mark(as: DatabaseFile.backupID)
        guard draft.isAtItsPath else { throw DraftFile.wasExchanged(draft.path) }
        try draft.sync()
        let head: AuditHead?
        do throws(AlertError) {
            head = try await verify(draft)
        } catch .invalid(_, let reason) {
            let kept = try keep(draft, insteadOf: target)
            try QueueLocation.sync(location.directory)
            throw .invalid(
                "copy",
                "of the queue does not verify, so it is not a backup: \(reason); it is kept as "
                    + "\(kept), and no older backup was removed")
        }
        let made = try put(draft, at: target, in: location, replaces)
        try QueueLocation.sync(location.directory)
        let origin = Self.origin(of: made)
        return BackupReport(
            path: made, size: FileIdentity(path: made)?.size ?? 0, head: head,
            removed: try count.map { count throws(AlertError) in
                try location.removeAllBut(count, of: made) {
                    origin != nil && Self.origin(of: $0) == origin
                }
            } ?? [])
    }

    /// Verifies a copy as `audit verify` does; returns the end of its log.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if it does not verify.
    private nonisolated(nonsending) func verify(
        _ draft: DraftFile
    ) async throws(AlertError) -> AuditHead? {
        let report: AuditReport
        do throws(AlertError) {
            report = try await Self.verify(copyAt: draft.path, clock: clock)
        } catch {
            guard error.isDamage else { throw error }
            throw .invalid("copy", "\(error)")
        }
        guard let problem = report.problems.first else { return report.head }
        throw .invalid("copy", problem.reason)
    }

    /// Verifies a database that no process writes.
    static nonisolated(nonsending) func verify(
        copyAt path: String, clock: any AlertClock, expecting head: AuditHead? = nil,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> AuditReport {
        let store = try await openForReading(path: path, clock: clock)
        let result: Result<AuditReport, AlertError>
        do throws(AlertError) {
            result = .success(try await store.verify(expecting: head, progress))
        } catch {
            result = .failure(error)
        }
        await store.close()
        return try result.get()
    }

    /// Moves a copy that does not verify to a free name, which says so.
    private func keep(
        _ draft: DraftFile, insteadOf target: String
    ) throws(AlertError) -> String {
        let (stem, ending) = QueueLocation.stemAndEnding(of: target)
        for number in 1...1000 {
            let path = "\(stem)-damaged\(number == 1 ? "" : "-\(number)")\(ending)"
            if try draft.move(to: path) { return path }
        }
        throw BackupLocation.nameIsTaken(target)
    }

    /// The first entry's hash, which differs between queues; `nil` if the file can't be read.
    private static func origin(of path: String) -> [UInt8]? {
        // A backup has no log, and nothing should be created next to it.
        try? BackupSource.open(path, asItIs: true).auditHead(at: 1)?.hash
    }

    /// Gives a draft its name, which in a directory is that of the next second without a file.
    private func put(
        _ draft: DraftFile, at target: String, in location: BackupLocation, _ replaces: Bool
    ) throws(AlertError) -> String {
        if location.isDirectory {
            let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
            for second in 0..<60 {
                let path = location.path(at: now + Double(second))
                guard FileIdentity(path: path) == nil else { continue }
                try BackupLocation.prepare(path, replaces: false)
                if try draft.move(to: path) { return path }
            }
            throw BackupLocation.nameIsTaken(target)
        }
        // A process may have opened the existing file in the meantime.
        try BackupLocation.prepare(target, replaces: replaces)
        if replaces {
            try draft.replace(target)
        } else {
            guard try draft.move(to: target) else { throw BackupLocation.nameIsTaken(target) }
        }
        return target
    }
}

extension Database {
    /// How many pages are copied between progress reports: 16 MiB.
    private static let copyLength: Int32 = 4096

    /// Copies all of this database into an existing file that no other process uses.
    ///
    /// The copy is not synced.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if it is cancelled.
    func copy(
        to path: String, _ progress: (_ done: Int, _ total: Int) -> Void,
        isCancelled: () -> Bool
    ) throws {
        // In a directory that others may write, the name may lead elsewhere by now.
        let target = try Database(path: path, access: .readWriteNoFollow)
        // An incomplete copy is discarded.
        try target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        let copy = try DatabaseCopy(of: self, to: target)
        while try !copy.step(Self.copyLength) {
            guard !isCancelled() else { throw AlertError.busy("the copy was cancelled") }
            let pages = copy.pages
            progress(pages.done, pages.total)
        }
    }
}
