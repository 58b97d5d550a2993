import AlertQueue
import Glibc
import Linux
import TextFormats

/// What is needed where a file of a queue may not be used, by what is there now.
struct AccessAdvice: Sendable {
    /// The file that was refused, or its directory.
    let path: String
    let database: String

    init(to path: String, of database: String) {
        self.path = QueueChoice.absolute(path)
        self.database = QueueChoice.absolute(database)
    }

    var text: String {
        var status = stat()
        guard lstat(path, &status) == 0, isVisible else { return membership ?? account(status) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFDIR else { return unusual(isLink: kind == S_IFLNK) }
        if kind == S_IFREG, let file = FileIdentity(path: path) {
            if file.isMountRoot == true {
                return "unmount it, and mount the directory of that file instead: umount "
                    + ShellText.quoted(path)
            }
            if file.links > 1 {
                return "to list its names, of which one may stay: find / -xdev -samefile "
                    + ShellText.quoted(path)
            }
        }
        let rights = kind == S_IFDIR ? R_OK | W_OK | X_OK : R_OK | W_OK
        // It may be used, but whoever put it there could use it, too.
        if faccessat(AT_FDCWD, path, rights, AT_EACCESS) == 0 { return foreign }
        if status.st_uid == geteuid() {
            let mode = kind == S_IFDIR ? "u+rwx" : "u+rw"
            return "it is yours: chmod \(mode) \(ShellText.quoted(path))"
        }
        return membership ?? account(status)
    }

    /// Whether it may at least be looked at.
    private var isVisible: Bool { LinuxFile.isDirectory(FilePath.directory(of: path)) }

    private func unusual(isLink: Bool) -> String {
        let file = ShellText.quoted(path)
        if isLink, path == database { return "name the file that it leads to: realpath \(file)" }
        return "find out who put it there: ls -ld \(file); to move it away: mv \(file) "
            + ShellText.quoted(path + "-old")
    }

    private var foreign: String {
        let directory = ShellText.quoted(FilePath.directory(of: path))
        let file = ShellText.quoted(path)
        return "find out who put it there: ls -ld \(file); if it belongs to the queue, as root: "
            + "chown --reference=\(directory) \(file)"
    }

    /// How to become one of those who may use the system queue.
    private var membership: String? {
        QueuePresence.closed(FilePath.directory(of: database)).advice(path: database)
    }

    private func account(_ status: stat) -> String {
        let owner = status.st_mode == 0 ? nil : Account(uid: status.st_uid).named.name
        let who = owner.map { "use the account \($0)" } ?? "use an account that may"
        let directory = ShellText.quoted(FilePath.directory(of: path))
        return "\(who), or another queue with --database; to see who may: ls -ld \(directory)"
            + (status.st_mode == 0 ? "" : " " + ShellText.quoted(path))
    }
}
