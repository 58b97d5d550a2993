import AlertCore
import Glibc
import Linux

/// The files of one queue: the database and the files next to it.
struct QueueFiles: Sendable {
    let database: String
    /// The mode of every file: 0660 in a directory shared by a group, else 0600.
    let mode: mode_t
    private let sharing: SharedDirectory

    /// Examines the directory of a database.
    ///
    /// A symbolic link is followed here, as SQLite does, so that all files of a queue are next to
    /// the same database under any name; but not if others could have created the link.
    ///
    /// - Throws: If the path is empty, is not a regular file, is in a directory that does not
    ///   exist, or is a link in a directory that others may write.
    init(database: String) throws(AlertError) {
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
        let resolved = Self.realPath(absolute) ?? absolute
        let slash = resolved.lastIndex(of: "/") ?? resolved.startIndex
        let named = slash == resolved.startIndex ? "/" : String(resolved[..<slash])
        guard let directory = Self.realPath(named), stat(directory, &status) == 0 else {
            throw SystemError.current("open the directory", named)
        }
        self.database = (directory == "/" ? "" : directory) + resolved[slash...]
        sharing = SharedDirectory(status)
        // A group-writable directory with the set-group-ID bit is shared on purpose.
        mode = sharing.hasGroupFiles ? 0o660 : 0o600
        try Self.checkName(absolute)
    }

    /// Makes sure that no link in a directory that others may write leads to a database.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    private static func checkName(_ path: String) throws(AlertError) {
        var name = path
        // The kernel's limit on links; see path_resolution(7).
        for _ in 0..<40 {
            var (link, parent) = (stat(), stat())
            let directory = QueueLocation.directory(of: name)
            guard lstat(name, &link) == 0, link.st_mode & S_IFMT == S_IFLNK,
                stat(directory, &parent) == 0
            else { return }
            guard !SharedDirectory(parent).isShared else {
                throw .notPermitted(
                    path: name,
                    "it is a link in a directory that others may write, and is not followed")
            }
            guard let target = LinuxFile.link(name) else { return }
            name = target.hasPrefix("/") ? target : directory + "/" + target
        }
    }

    /// Makes sure that this process may use the files that SQLite opens, before it opens them.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    func checkOwners(isLocked: Bool) throws(AlertError) {
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
        let directory = QueueLocation.directory(of: path)
        guard identity.isMountRoot != true else {
            throw .notPermitted(
                path: path,
                "it is a mount of its own, so its log would not be next to the file that is "
                    + "mounted; mount the directory of that file instead, as \(directory)")
        }
        guard identity.links > 1 else { return }
        let names = LinuxFile.names(in: directory)
        let own = names.count { name in
            var status = stat()
            return lstat(directory + "/" + name, &status) == 0
                && UInt64(status.st_dev) == identity.device && status.st_ino == identity.inode
        }
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
        "-wal", "-shm", "-journal", "-lock", "-slot", "-bell", "-handlers", "-reserve",
    ]

    /// Whether a path leads to one of these files, or would if it existed.
    func contain(_ path: String) -> Bool {
        let identity = FileIdentity(path: path)
        return ([""] + Self.endings).contains { ending in
            let file = database + ending
            return file == path || (identity != nil && FileIdentity(path: file) == identity)
        }
    }

    /// Whether there is a log, or a journal, that has yet to be copied into the database.
    var hasLog: Bool {
        [wal, journal].contains { (FileIdentity(path: $0)?.size ?? 0) > 0 }
    }

    /// The attributes that show whether the database or its logs were written.
    var changes: [FileChange?] { [database, wal, journal].map(FileChange.init) }

    var directory: String { QueueLocation.directory(of: database) }
    var lock: String { database + "-lock" }
    var slot: String { database + "-slot" }
    var bell: String { database + "-bell" }
    var handlers: String { database + "-handlers" }
    var reserve: String { database + "-reserve" }
    var journal: String { database + "-journal" }
    var wal: String { database + "-wal" }
    var sharedMemory: String { database + "-shm" }

    /// The path without symbolic links and dots, if the file exists; see realpath(3).
    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The attributes that show whether a file was written; see stat(2).
struct FileChange: Equatable {
    /// How far the times of files may be behind, in microseconds.
    static let step: UInt32 = 20_000
    private let numbers: [Int64]
    private let modified: Int64

    /// `nil` where there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        numbers = [
            Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size), modified,
        ]
    }

    /// Whether it was written so recently that another write may leave the same time.
    var isRecent: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - modified
        return age.magnitude < UInt64(Self.step) * 1000
    }
}
