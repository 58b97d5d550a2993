import AlertCore
import FoundationEssentials
import Glibc

/// The default locations of queues.
package enum QueueLocation {
    /// The queue shared by the machine's services and the group `alertq`.
    package static let systemPath = "/var/lib/alertq/queue.db"

    /// `$ALERTQ_DATABASE`, else the system queue for root, and for others their own queue; `nil` for
    /// an account without a home directory, whose questions must not get into a queue that others
    /// read.
    package static func defaultPath() -> String? {
        if let path = Identity.environment("ALERTQ_DATABASE") { return path }
        return Identity.isRootOfFiles ? systemPath : userPath()
    }

    /// Rejects environment variables with paths that are not valid UTF-8: if repaired, they would
    /// name a different queue.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``.
    package static func checkEnvironment() throws(AlertError) {
        for name in ["ALERTQ_DATABASE", "XDG_STATE_HOME", "HOME"] {
            guard let value = getenv(name), String(validatingCString: value) == nil else {
                continue
            }
            throw .invalid("variable \(name)", "is not valid UTF-8")
        }
    }

    /// The user's queue; `nil` for root and for an account without a home directory.
    ///
    /// See the XDG Base Directory Specification, `XDG_STATE_HOME`.
    package static func userPath() -> String? {
        guard !Identity.isRootOfFiles else { return nil }
        // The specification says that a path that is not absolute is ignored.
        if let state = Identity.environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/alertq/queue.db"
        }
        return Identity.home.map { $0 + "/.local/state/alertq/queue.db" }
    }

    /// Whether a database is on a file system that is mounted read-only; see statvfs(3),
    /// `ST_RDONLY`.
    package static func isReadOnly(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Whether a path leads to one of the files of the queue in a database.
    package static func isFile(_ path: String, ofQueue database: String) -> Bool {
        (try? QueueFiles(database: database).contain(path)) ?? false
    }

    /// Creates the directories of the user's queue, with no access for others.
    static func createUserDirectory(for path: String) throws(AlertError) {
        if path == userPath() { try createDirectory(directory(of: path)) }
    }

    private static func createDirectory(_ path: String) throws(AlertError) {
        guard access(path, F_OK) != 0 else { return }
        let parent = directory(of: path)
        try createDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemError.current("create the directory", path)
        }
        // Otherwise a power loss could take the directory away, with all synced files in it.
        try sync(parent)
    }

    /// The path of a file in a directory without links and dots; see realpath(3).
    static func resolved(_ path: String) throws(AlertError) -> String {
        let slash = path.lastIndex(of: "/")
        let named = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let resolved = realpath(named, nil) else {
            throw SystemError.current("open the directory", named)
        }
        defer { free(resolved) }
        let directory = String(cString: resolved)
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        return (directory == "/" ? "" : directory) + "/" + name
    }

    /// A date in the name of a file.
    static func nameText(_ date: Date) -> String {
        Timestamp.text(date).prefix { $0 != "." }.replacing(":", with: "-") + "Z"
    }

    /// The directory of a file, from its absolute path.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The name of a file in its directory.
    static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? ""
    }

    /// A path without the ending of its name, such as `.db`, and that ending; a name such as `.db`
    /// has none.
    static func stemAndEnding(of path: String) -> (stem: String, ending: String) {
        let name = name(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (path, "") }
        let ending = String(name[dot...])
        return (String(path.dropLast(ending.count)), ending)
    }

    /// Syncs the names in a directory to disk; see fsync(2).
    static func sync(_ directory: String) throws(AlertError) {
        let raw = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else {
            // A directory that may be searched but not read can't be synced.
            guard errno != EACCES else { return }
            throw SystemError.current("open the directory", directory)
        }
        defer { close(raw) }
        guard fsync(raw) == 0 else { throw SystemError.current("sync the directory", directory) }
    }
}
