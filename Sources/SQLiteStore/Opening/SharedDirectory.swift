import AlertCore
import Glibc

/// The rules for whose files may be used for a queue in a directory that other accounts may write.
///
/// There, any account could put a link, a pipe or a file of its own where ours are expected: a
/// queue would be read from it, or another program's file would be overwritten.
struct SharedDirectory: Sendable {
    private let owner: uid_t
    private let group: gid_t
    /// Whether others than the owner may write it, or the owner is neither this account nor root.
    let isShared: Bool
    /// Whether its group may write it, and it gives its group to what is created in it.
    let hasGroupFiles: Bool
    /// Whether, in addition, others have no access to it.
    private let isForGroup: Bool

    init(_ status: stat) {
        owner = status.st_uid
        group = status.st_gid
        let isWritable = status.st_mode & (S_IWGRP | S_IWOTH) != 0
        isShared = isWritable || (owner != geteuid() && owner != 0)
        hasGroupFiles = status.st_mode & (S_ISGID | S_IWGRP) == S_ISGID | S_IWGRP
        isForGroup = hasGroupFiles && status.st_mode & S_IWOTH == 0
    }

    /// Makes sure that a file, if it exists, may be used.
    ///
    /// - Parameter isLocked: Whether no other process can be creating it: then it must not be
    ///   another account's empty file, nor have another name that leads to such a file.
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    func check(_ path: String, isLocked: Bool) throws(AlertError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == EACCES else {
                throw SystemError.current("look at", path)
            }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .notPermitted(
                path: path, "it is a link or not a regular file, and is not touched")
        }
        guard isShared else { return }
        let uid = status.st_uid
        guard uid == geteuid() || uid == 0 || uid == owner || (isForGroup && status.st_gid == group)
        else {
            throw .notPermitted(
                path: path, "it belongs to uid \(uid), and others may write its directory")
        }
        guard isLocked, uid != geteuid() else { return }
        guard status.st_nlink <= 1 else {
            throw .notPermitted(path: path, "it belongs to uid \(uid) and has other names")
        }
        // It is still empty: the account that created it would own our queue.
        guard status.st_size > 0 || ["-wal", "-shm", "-journal"].contains(where: path.hasSuffix)
        else {
            throw .notPermitted(
                path: path,
                "it is empty and belongs to uid \(uid), so it is not taken over; remove it")
        }
    }
}
