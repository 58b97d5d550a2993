import AlertCore
import Glibc
import Linux

/// Whether this account may write a queue: an error is reported when the queue is opened, and not
/// at the first write, which may be an answer.
enum WriteAccess {
    /// Checks the files of a queue with the effective rights; see access(2).
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``. A read-only file system is not refused here:
    ///   writing to it fails with its own error.
    static func check(_ files: QueueFiles) throws(AlertError) {
        // Missing files are created, or refused, when the queue is opened.
        guard FileIdentity(path: files.database) != nil else { return }
        let walFiles = [files.wal, files.sharedMemory, files.lock]
        for path in [files.database] + walFiles where isRefused(path, W_OK) {
            throw .notPermitted(path: path, "this account may not write it (\(state(of: path)))")
        }
        let areThere = walFiles.allSatisfy { FileIdentity(path: $0) != nil }
        guard !areThere, isRefused(files.directory, W_OK | X_OK) else { return }
        throw .notPermitted(
            path: files.directory,
            "this account may not create files in it, and a queue that is written needs some "
                + "next to its database (\(state(of: files.directory)))")
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
        let owner = Identity.userName(status.st_uid) ?? "uid \(status.st_uid)"
        let digits = String(status.st_mode & 0o7777, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let advice =
            status.st_uid == geteuid() && status.st_mode & 0o200 == 0
            ? "chmod u+w lets you" : "use that account, or a queue of your own"
        return "it belongs to \(owner), with mode \(mode); \(advice)"
    }
}
