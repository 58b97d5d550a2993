import AlertCore
import FoundationEssentials
import Glibc
import Linux
import SQLite
import TextFormats

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
        let target = location.paths(from: now)[0]
        if !location.isDirectory { try BackupLocation.prepare(target, replaces: replaces) }
        let draft = try DraftFile(for: target, mode: 0o600)
        // The copying thread may still reference it when this process ends.
        defer { draft.discard() }
        let reader = QueueConfined(makeReader(), label: "alertq.backup")
        try await reader.run { reader throws(AlertError) in
            try performing("write \(target)") {
                // One transaction for the whole copy, so that other commits don't restart it.
                try reader.read { try $0.copy(to: draft.path, progress) }
            }
        }
        try draft.mark(as: DatabaseFile.backupID)
        try draft.sync()
        let (head, fault) = try await verify(draft)
        if let fault {
            let kept = try put(draft, atFirstOf: BackupLocation.damagedPaths(insteadOf: target))
            try QueueFiles.sync(location.directory)
            throw .invalid(
                "copy",
                "of the queue does not verify, so it is not a backup: \(fault); it is kept as "
                    + "\(kept), and no older backup was removed")
        }
        let made = try put(
            draft, atFirstOf: location.paths(from: now),
            replaces: replaces && !location.isDirectory)
        try QueueFiles.sync(location.directory)
        let removed = try count.map { count throws(AlertError) in
            try location.removeAllBut(count, of: made)
        }
        return BackupReport(
            path: made, size: FileIdentity.size(of: made), head: head,
            removed: removed ?? [])
    }

    private var now: Date { Timestamp.date(milliseconds: clock.now().wallMilliseconds) }

    /// Verifies a copy as `audit verify` does; returns the end of its log, and what is wrong with
    /// it.
    private nonisolated(nonsending) func verify(
        _ draft: DraftFile
    ) async throws(AlertError) -> (head: AuditHead?, fault: String?) {
        do throws(AlertError) {
            let report = try await Self.verify(copyAt: draft.path, clock: clock)
            return (report.head, report.problems.first?.reason)
        } catch {
            guard error.isDamage else { throw error }
            return (nil, "\(error)")
        }
    }

    /// Verifies a database that no process writes.
    static nonisolated(nonsending) func verify(
        copyAt path: String, clock: any AlertClock, expecting head: AuditHead? = nil,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> AuditReport {
        let store = try await openForReading(path: path, clock: clock)
        do throws(AlertError) {
            let report = try await store.verify(expecting: head, progress)
            await store.close()
            return report
        } catch {
            await store.close()
            throw error
        }
    }

    /// Gives a draft the first of these names that is free, or the first one if a file of that name
    /// is to be replaced.
    private func put(
        _ draft: DraftFile, atFirstOf paths: [String], replaces: Bool = false
    ) throws(AlertError) -> String {
        for path in paths where replaces || FileIdentity(path: path) == nil {
            // A process may have opened the existing file in the meantime.
            try BackupLocation.prepare(path, replaces: replaces)
            if replaces {
                try draft.replace(path)
                return path
            }
            if try draft.move(to: path) { return path }
        }
        throw BackupLocation.nameIsTaken(paths[0])
    }
}

extension Database {
    /// How many pages are copied between progress reports: 16 MiB.
    private static let copyLength: Int32 = 4096

    /// Copies all of this database into an existing file that no other process uses.
    ///
    /// The copy is not synced.
    ///
    /// - Throws: ``AlertError/cancelled(_:)`` if the task is cancelled.
    func copy(
        to path: String, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws {
        // In a directory that others may write, the name may lead elsewhere by now.
        let target = try Database(path: path, access: .readWriteNoFollow)
        // An incomplete copy is discarded.
        try target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        let copy = try DatabaseCopy(of: self, to: target)
        while try !copy.step(Self.copyLength) {
            guard !Task.isCancelled else { throw AlertError.cancelled("the copy") }
            let pages = copy.pages
            progress(pages.done, pages.total)
        }
    }
}

/// The target of a backup: a file, or a directory in which each backup has its time in its name.
struct BackupLocation: Sendable {
    /// The directory, with links and dots resolved, so that it can be compared with other paths.
    let directory: String
    /// The file's path; `nil` if its name is made from the time.
    private let file: String?
    /// What names with times begin and end with.
    private let beginning: String
    private let ending: String

    /// Examines a path.
    ///
    /// - Parameter files: The files of the queue that is backed up; the backup can't replace them.
    init(_ path: String, of files: QueueFiles) throws(AlertError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .invalid("backup path", "is empty or contains a NUL character")
        }
        let queue = FilePath.stemAndEnding(of: FilePath.name(of: files.database))
        beginning = queue.stem + "-"
        ending = queue.ending.isEmpty ? ".db" : queue.ending
        let isDirectory = LinuxFile.isDirectory(path)
        let resolved = try QueueFiles.path(of: isDirectory ? path + "/" : path)
        directory = FilePath.directory(of: resolved)
        file = isDirectory ? nil : resolved
        guard isDirectory || !files.contain(resolved) else {
            throw .invalid("backup path", "\(path) is one of the queue's own files")
        }
    }

    var isDirectory: Bool { file == nil }

    /// The paths for a backup made at this date, best first: in a directory, a taken name leads to
    /// that of the next second.
    func paths(from date: Date) -> [String] {
        if let file { return [file] }
        return (0..<60).map { second in
            path(of: beginning + DraftFile.nameText(date + Double(second)) + ending)
        }
    }

    /// The paths for a copy that does not verify, best first.
    static func damagedPaths(insteadOf target: String) -> [String] {
        let (stem, ending) = FilePath.stemAndEnding(of: target)
        let numbers = [""] + (2...1000).map { "-\($0)" }
        return numbers.map { stem + "-damaged" + $0 + ending }
    }

    private func path(of name: String) -> String {
        (directory == "/" ? "" : directory) + "/" + name
    }

    /// Whether backups of this queue have names of this form here.
    func isName(_ other: String) -> Bool {
        if let file { return other == FilePath.name(of: file) }
        guard other.hasPrefix(beginning), other.hasSuffix(ending) else { return false }
        let time = other.dropFirst(beginning.count).dropLast(ending.count)
        return time.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z/) != nil
    }

    /// Removes all but the newest backups of this queue, by the times in their names; returns their
    /// paths. Those of other queues may have the same names.
    ///
    /// - Parameter made: The backup that is kept in any case, even if the clock was wrong when it
    ///   was made.
    func removeAllBut(_ count: Int, of made: String) throws(AlertError) -> [String] {
        guard let origin = Self.origin(of: made) else { return [] }
        let others = LinuxFile.names(in: directory).filter(isName).map(path(of:))
            .filter { $0 != made && Self.isPlainFile($0) && Self.origin(of: $0) == origin }
            .sorted()
        let old = others.dropLast(max(0, count - 1))
        for file in old {
            guard unlink(file) == 0 || errno == ENOENT else {
                throw SystemError.current("remove the older backup", file)
            }
            // Files that opening it has left next to it.
            for ending in QueueFiles.endings { unlink(file + ending) }
        }
        return Array(old)
    }

    /// The first entry's hash, which differs between queues; `nil` if the file can't be read.
    private static func origin(of path: String) -> [UInt8]? {
        // A backup has no log, and nothing should be created next to it.
        try? Database(path: path, access: .unchanging).auditHead(at: 1)?.hash
    }

    private static func isPlainFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}

// MARK: - Existing files

extension BackupLocation {
    /// Makes sure that a file can be placed at a path, and that no log of another database is
    /// next to it, which SQLite would take for its own.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` for a file that must not be replaced, or
    ///   whose last commits are still in its log.
    static func prepare(_ path: String, replaces: Bool) throws(AlertError) {
        var status = stat()
        let exists = lstat(path, &status) == 0
        if exists {
            guard replaces else { throw nameIsTaken(path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .storage(operation: "replace \(path)", "it is not a regular file")
            }
        }
        for log in [path + "-wal", path + "-journal"] {
            guard let size = FileIdentity(path: log)?.size else { continue }
            guard !exists || size == 0 else {
                throw .storage(
                    operation: "replace \(path)", "it is in use, or \(log) belongs to it")
            }
            unlink(log)
        }
        unlink(path + "-shm")
    }

    static func nameIsTaken(_ path: String) -> AlertError {
        .storage(operation: "create \(path)", "a file of this name already exists")
    }
}
