import AlertQueue
import Glibc
import Linux
import TextFormats

/// What is at the path of a queue, as far as this process can see; nothing is created.
enum QueuePresence: Sendable, Hashable {
    /// There is a file with some content.
    case present
    /// There is no file, or an empty one, and asking makes it a queue.
    case absent
    /// The directory is missing.
    case noDirectory(String)
    /// This user may not enter or write the directory.
    case closed(String)

    /// Looks at a path; see stat(2).
    init(path: String) {
        // Opening it tells.
        guard QueueLocation(path).isFile else {
            self = .present
            return
        }
        var status = stat()
        let directory = FilePath.directory(of: path)
        if fstatat(AT_FDCWD, path, &status, 0) == 0 {
            let isEmpty = status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
            self = isEmpty ? .absent : .present
        } else if errno == EACCES {
            self = .closed(directory)
        } else if fstatat(AT_FDCWD, directory, &status, 0) != 0 {
            // Asking creates the directories of the user's own queue.
            self = path == QueueLocation.userPath() ? .absent : .noDirectory(directory)
        } else {
            // Asking creates the file with the effective rights of the process.
            let mayCreate = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0
            self = mayCreate ? .absent : .closed(directory)
        }
    }

    /// Whether there certainly is no file at a path.
    static func isMissing(_ path: String) -> Bool {
        if !QueueLocation(path).isFile { return false }
        var status = stat()
        return fstatat(AT_FDCWD, path, &status, 0) != 0 && errno == ENOENT
    }

    /// How to get access to the queue; `nil` where nothing is in the way, or no advice is known.
    func advice(path: String) -> String? {
        let isSystem = path == QueueLocation.systemPath
        switch self {
        case .present, .absent: return nil
        case .noDirectory(let directory):
            return isSystem
                ? "as root: alertq doctor --setup-system"
                : "to create it: mkdir -p -m 700 \(ShellText.quoted(directory))"
        case .closed:
            guard isSystem else { return nil }
            let name = Account(uid: Account.current.uid).named.name.map(ShellText.quoted) ?? "NAME"
            return "as root: usermod -aG alertq \(name); then log in again"
        }
    }
}
