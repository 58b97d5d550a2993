import Glibc

/// The parts of paths, and what the kernel makes of them.
package enum FilePath {
    /// The directory of a file, from its path; `.` for a path without a slash.
    package static func directory(of path: String) -> String {
        guard let slash = path.unicodeScalars.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The name of a file in its directory.
    package static func name(of path: String) -> String {
        path.unicodeScalars.split(separator: "/").last.map { String($0) } ?? ""
    }

    /// A path without the ending of its name, such as `.db`, and that ending; a name such as `.db`
    /// has none.
    package static func stemAndEnding(of path: String) -> (stem: String, ending: String) {
        let name = name(of: path)
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot != name.startIndex else {
            return (path, "")
        }
        let ending = name.unicodeScalars[dot...]
        return (String(path.unicodeScalars.dropLast(ending.count)), String(ending))
    }

    /// The path without symbolic links and dots, if the file exists; see realpath(3).
    package static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path of a file, which need not exist, in a directory without links and dots.
    package static func inResolvedDirectory(_ path: String) throws(LinuxError) -> String {
        let named = directory(of: path)
        guard let directory = resolved(named) else { throw .current("open the directory \(named)") }
        let start = path.unicodeScalars.lastIndex(of: "/").map(path.unicodeScalars.index(after:))
        return (directory == "/" ? "" : directory) + "/" + path[(start ?? path.startIndex)...]
    }

    /// Creates a directory and those above it, on disk, unless it is there; see mkdir(2).
    ///
    /// What root creates in another account's directory belongs to that account, which could not use
    /// it otherwise.
    package static func create(directory path: String, mode: mode_t) throws(LinuxError) {
        guard access(path, F_OK) != 0 else { return }
        let parent = directory(of: path)
        try create(directory: parent, mode: mode)
        guard mkdir(path, mode) == 0 else {
            // Another process may have been faster.
            guard errno == EEXIST else { throw .current("create the directory \(path)") }
            return
        }
        var owner = stat()
        if geteuid() == 0, stat(parent, &owner) == 0, owner.st_uid != 0 {
            try give(directory: path, to: owner)
        }
        // Otherwise a power loss could take the directory away, with all synced files in it.
        try sync(directory: parent)
    }

    /// Gives a directory that root has just made to the account of the one above it, which may have
    /// put something else in its place by now.
    private static func give(directory path: String, to owner: stat) throws(LinuxError) {
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else { throw .current("open the directory \(path)") }
        defer { close(raw) }
        var made = stat()
        guard fstat(raw, &made) == 0, made.st_uid == 0 else { return }
        // The root of a user namespace may not, where that account has no number.
        guard fchown(raw, owner.st_uid, owner.st_gid) == 0 || errno == EINVAL || errno == EPERM
        else { throw .current("give the directory \(path) to its owner") }
    }

    /// Syncs the names in a directory to disk; see fsync(2).
    package static func sync(directory: String) throws(LinuxError) {
        let raw = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else {
            // A directory that may be searched but not read can't be synced.
            guard errno != EACCES else { return }
            throw .current("open the directory \(directory)")
        }
        defer { close(raw) }
        guard fsync(raw) == 0 else { throw .current("sync the directory \(directory)") }
    }

    /// Whether a file is on a file system that is mounted read-only; see statvfs(3), `ST_RDONLY`.
    package static func isReadOnly(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }
}
