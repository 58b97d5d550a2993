import AlertCore
import Glibc
import Linux

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

    /// Creates the directories of the user's queue, with no access for others.
    package static func createUserDirectory(for path: String) throws(AlertError) {
        if path == userPath() { try createDirectory(FilePath.directory(of: path)) }
    }

    private static func createDirectory(_ path: String) throws(AlertError) {
        guard access(path, F_OK) != 0 else { return }
        let parent = FilePath.directory(of: path)
        try createDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemError.current("create the directory", path)
        }
        // Otherwise a power loss could take the directory away, with all synced files in it.
        try AlertError.onFile(parent) { () throws(LinuxError) in
            try FilePath.sync(directory: parent)
        }
    }
}
