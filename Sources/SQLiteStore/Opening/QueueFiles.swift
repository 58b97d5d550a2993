import AlertCore
import Glibc
import Linux

/// The files of one queue: the database and the files next to it.
struct QueueFiles: Sendable {
    let database: String
    /// The mode of every file: 0660 in a directory shared by a group, else 0600.
    let mode: mode_t
    /// Whether the group of the directory shares them.
    var isForGroup: Bool { sharing.hasGroupFiles }
    /// Whether the database is only copied: then it may be any account's, and have any name.
    let isSource: Bool
    private let sharing: SharedDirectory

    /// Examines the directory of a database.
    ///
    /// A symbolic link is followed here, as SQLite does, so that all files of a queue are next to
    /// the same database under any name; but not if others could have created the link.
    ///
    /// - Throws: If the path is empty, is not a regular file, is in a directory that does not
    ///   exist, or is a link in a directory that others may write.
    init(database: String, isSource: Bool = false) throws(AlertError) {
        guard !database.isEmpty, !database.utf8.contains(0) else {
            throw .invalid("database path", "is empty or contains a NUL character")
        }
        let absolute =
            database.hasPrefix("/")
            ? database : (LinuxFile.workingDirectory ?? ".") + "/" + database
        var status = stat()
        if stat(absolute, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw .incompatible(
                path: absolute,
                status.st_mode & S_IFMT == S_IFDIR
                    ? "is a directory; name a file in it" : "is not a regular file")
        }
        self.database = try Self.path(of: FilePath.resolved(absolute) ?? absolute)
        let directory = FilePath.directory(of: self.database)
        guard let sharing = SharedDirectory(directory) else {
            throw SystemError.current("open the directory", directory)
        }
        self.sharing = sharing
        // A group-writable directory with the set-group-ID bit is shared on purpose.
        mode = sharing.hasGroupFiles ? 0o660 : 0o600
        self.isSource = isSource
        if !isSource { try Self.checkName(absolute) }
    }

    /// The path of a file in a directory without links and dots.
    static func path(of path: String) throws(AlertError) -> String {
        try AlertError.onFile(FilePath.directory(of: path)) { () throws(LinuxError) in
            try FilePath.inResolvedDirectory(path)
        }
    }

    /// Makes sure that no link in a directory that others may write leads to a database.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    private static func checkName(_ path: String) throws(AlertError) {
        var name = path
        // The kernel's limit on links; see path_resolution(7).
        for _ in 0..<40 {
            guard let target = LinuxFile.link(name) else { return }
            let directory = FilePath.directory(of: name)
            guard SharedDirectory(directory)?.isShared != true else {
                throw .notPermitted(
                    path: name,
                    "it is a link in a directory that others may write, and is not followed")
            }
            name = target.hasPrefix("/") ? target : directory + "/" + target
        }
    }

    /// Makes sure that this process may use the files that SQLite opens, before it opens them.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    func checkOwners(isLocked: Bool) throws(AlertError) {
        guard !isSource else { return }
        for path in [database, wal, sharedMemory, journal] {
            try sharing.check(path, isLocked: isLocked)
        }
    }

    /// Makes sure that all processes find the log of a database in the same directory.
    ///
    /// A file that is a mount of its own, as in a container, has one log inside and another
    /// outside; so does a file with a second name in another directory. A second name in the same
    /// directory is what a killed process may have left.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    static func checkPlace(of path: String, _ identity: FileIdentity) throws(AlertError) {
        let directory = FilePath.directory(of: path)
        guard identity.isMountRoot != true else {
            throw .notPermitted(
                path: path,
                "it is a mount of its own, so its log would not be next to the file that is "
                    + "mounted; mount the directory of that file instead, as \(directory)")
        }
        guard identity.links > 1 else { return }
        let names = LinuxFile.names(in: directory).map { directory + "/" + $0 }
        let own = names.count { FileIdentity(path: $0) == identity && LinuxFile.link($0) == nil }
        // A directory that can't be listed has no names here.
        guard own < identity.links, !names.isEmpty else { return }
        throw .notPermitted(
            path: path,
            "it has \(identity.links) names, not all of them in \(directory), and each directory "
                + "would have a log of its own; keep one name, and remove the others, which "
                + "`find / -samefile PATH` lists")
    }

    /// The endings of the names of the files next to a database.
    static let endings = [
        "-wal", "-shm", "-journal", "-lock", "-slot", "-bell", "-leases", "-reserve",
    ]

    /// Whether a path leads to one of these files, or would if it existed.
    func contain(_ path: String) -> Bool {
        let identity = FileIdentity(path: path)
        return ([""] + Self.endings).contains { ending in
            let file = database + ending
            return file == path || (identity != nil && FileIdentity(path: file) == identity)
        }
    }

    /// The file at a path; `nil` if there is none. Nothing may be made or removed there because it
    /// can't be looked at.
    static func present(_ path: String) throws(AlertError) -> FileIdentity? {
        if let identity = FileIdentity(path: path) { return identity }
        guard errno == ENOENT else { throw SystemError.current("look at", path) }
        return nil
    }

    /// Whether there is a log, or a journal, that has yet to be copied into the database.
    var hasLog: Bool {
        [wal, journal].contains { FileIdentity.size(of: $0) > 0 }
    }

    /// The files that SQLite opens next to the database.
    var walFiles: [FileIdentity?] { [wal, sharedMemory].map { FileIdentity(path: $0) } }

    /// The attributes that show whether the database or its logs were written.
    var changes: [FileChange?] { [database, wal, journal].map(FileChange.init) }

    /// Syncs the names in the directory to disk.
    func syncDirectory() throws(AlertError) { try Self.sync(directory) }

    static func sync(_ directory: String) throws(AlertError) {
        try AlertError.onFile(directory) { () throws(LinuxError) in
            try FilePath.sync(directory: directory)
        }
    }

    var directory: String { FilePath.directory(of: database) }
    var lock: String { database + "-lock" }
    var slot: String { database + "-slot" }
    var bell: String { database + "-bell" }
    var leases: String { database + "-leases" }
    var reserve: String { database + "-reserve" }
    var journal: String { database + "-journal" }
    var wal: String { database + "-wal" }
    var sharedMemory: String { database + "-shm" }
}

/// The rules for whose files may be used for a queue in a directory that other accounts may write.
///
/// There, any account could put a link, a pipe or a file of its own where ours are expected: a
/// queue would be read from it, or another program's file would be overwritten.
struct SharedDirectory: Sendable {
    private let status: stat

    /// - Returns: `nil` if there is no directory at this path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.status = status
    }

    /// Whether others than the owner may write it, or the owner is neither this account nor root.
    var isShared: Bool {
        status.st_mode & (S_IWGRP | S_IWOTH) != 0
            || (status.st_uid != geteuid() && status.st_uid != 0)
    }

    /// Whether its group may write it, and it gives its group to what is created in it.
    var hasGroupFiles: Bool { status.st_mode & (S_ISGID | S_IWGRP) == S_ISGID | S_IWGRP }

    /// Makes sure that a file, if it exists, may be used.
    ///
    /// - Parameter isLocked: Whether no other process can be creating it: then it must not be
    ///   another account's empty file, nor have another name that leads to such a file.
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    func check(_ path: String, isLocked: Bool) throws(AlertError) {
        var file = stat()
        guard lstat(path, &file) == 0 else {
            guard errno == ENOENT || errno == EACCES else {
                throw SystemError.current("look at", path)
            }
            return
        }
        guard file.st_mode & S_IFMT == S_IFREG else {
            throw .notPermitted(
                path: path, "it is a link or not a regular file, and is not touched")
        }
        guard isShared else { return }
        let uid = file.st_uid
        let isForGroup = hasGroupFiles && status.st_mode & S_IWOTH == 0
        guard
            [geteuid(), 0, status.st_uid].contains(uid)
                || (isForGroup && file.st_gid == status.st_gid)
        else {
            throw .notPermitted(
                path: path, "it belongs to uid \(uid), and others may write its directory")
        }
        guard isLocked, uid != geteuid() else { return }
        guard file.st_nlink <= 1 else {
            throw .notPermitted(path: path, "it belongs to uid \(uid) and has other names")
        }
        // It is still empty: the account that created it would own our queue.
        guard file.st_size > 0 || ["-wal", "-shm", "-journal"].contains(where: path.hasSuffix)
        else {
            throw .notPermitted(
                path: path,
                "it is empty and belongs to uid \(uid), so it is not taken over; remove it")
        }
    }
}

extension QueueFiles {
    /// Makes sure that this account may write them, with its effective rights: an error is reported
    /// when the queue is opened, and not at the first write, which may be an answer. See access(2).
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``. A read-only file system is not refused here:
    ///   writing to it fails with its own error.
    func checkWriteAccess() throws(AlertError) {
        // Missing files are created, or refused, when the queue is opened.
        guard FileIdentity(path: database) != nil else { return }
        let others = [wal, sharedMemory, lock]
        for path in [database] + others where Self.isRefused(path, W_OK) {
            throw .notPermitted(
                path: path, "this account may not write it (\(Self.state(of: path)))")
        }
        let areThere = others.allSatisfy { FileIdentity(path: $0) != nil }
        guard !areThere, Self.isRefused(directory, W_OK | X_OK) else { return }
        throw .notPermitted(
            path: directory,
            "this account may not create files in it, and a queue that is written needs some "
                + "next to its database (\(Self.state(of: directory)))")
    }

    private static func isRefused(_ path: String, _ access: Int32) -> Bool {
        guard faccessat(AT_FDCWD, path, access, AT_EACCESS) != 0 else { return false }
        // Sandboxes reject unknown calls with EPERM.
        return errno == EACCES
    }

    /// The owner, the mode, and what to do: `it belongs to root, with mode 0644; use …`.
    private static func state(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "its mode can't be read" }
        let owner = Account(uid: status.st_uid).named.label
        let digits = String(status.st_mode & 0o7777, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let advice =
            status.st_uid == geteuid() && status.st_mode & 0o200 == 0
            ? "chmod u+w lets you" : "use that account, or a queue of your own"
        return "it belongs to \(owner), with mode \(mode); \(advice)"
    }
}
