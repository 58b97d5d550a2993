import AlertCore
import FoundationEssentials
import Glibc
import Linux

/// The target of a backup: a file, or a directory in which each backup has its time in its name.
struct BackupLocation: Sendable {
    /// The directory, with links and dots resolved, so that it can be compared with other paths.
    let directory: String
    /// The name of the file; `nil` if it is made from the time.
    private let name: String?
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
        let queue = QueueLocation.stemAndEnding(of: QueueLocation.name(of: files.database))
        beginning = queue.stem + "-"
        ending = queue.ending.isEmpty ? ".db" : queue.ending
        let isDirectory = LinuxFile.isDirectory(path)
        let slash = path.lastIndex(of: "/")
        let last = slash.map { String(path[path.index(after: $0)...]) } ?? path
        name = isDirectory ? nil : last
        let named =
            isDirectory
            ? path : slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let resolved = realpath(named, nil) else {
            throw SystemError.current("open the directory", named)
        }
        defer { free(resolved) }
        directory = String(cString: resolved)
        guard let name else { return }
        guard !name.isEmpty else { throw .invalid("backup path", "\(path) names no file") }
        guard !files.contain(self.path(of: name)) else {
            throw .invalid("backup path", "\(path) is one of the queue's own files")
        }
    }

    var isDirectory: Bool { name == nil }

    /// The file's path, for a backup made at this date.
    func path(at date: Date) -> String { path(of: name ?? Self.name(beginning, date, ending)) }

    private func path(of name: String) -> String {
        (directory == "/" ? "" : directory) + "/" + name
    }

    /// Whether backups of this queue have names of this form here.
    func isName(_ other: String) -> Bool {
        if let name { return other == name }
        guard other.hasPrefix(beginning), other.hasSuffix(ending),
            other.utf8.count > beginning.utf8.count + ending.utf8.count
        else { return false }
        let time = other.dropFirst(beginning.count).dropLast(ending.count)
        return time.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z/) != nil
    }

    /// Removes all but the newest backups of this queue, by the times in their names; returns their
    /// paths.
    ///
    /// - Parameters:
    ///   - made: The backup that is kept in any case, even if the clock was wrong when it was made.
    ///   - isOwn: Whether a file is a backup of this queue: those of others may have the same
    ///     names.
    func removeAllBut(
        _ count: Int, of made: String, where isOwn: (String) -> Bool
    ) throws(AlertError) -> [String] {
        let others = LinuxFile.names(in: directory).filter(isName).map(path(of:))
            .filter { $0 != made && Self.isPlainFile($0) && isOwn($0) }.sorted()
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

    private static func name(_ beginning: String, _ date: Date, _ ending: String) -> String {
        let time = Timestamp.text(date).prefix { $0 != "." }.replacing(":", with: "-")
        return beginning + time + "Z" + ending
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
