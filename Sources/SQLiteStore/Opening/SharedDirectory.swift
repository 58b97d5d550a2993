import AlertCore
import Glibc

/// Whose files of a queue may be used, in a directory that other accounts may write.
///
/// There, anybody could put a link, a pipe or a file of their own where ours are expected: a queue
/// would be read from it, or another program's file written.
struct SharedDirectory: Sendable {
    private let owner: uid_t
    private let group: gid_t
    /// Whether others than the owner may write it, or the owner is neither us nor root.
    let isShared: Bool
    /// Whether its group may write it, and it gives its group to what is created in it.
    let hasGroupFiles: Bool
    /// Whether, besides, it is closed to others.
    private let isForGroup: Bool

    init(_ status: stat) {
        owner = status.st_uid
        group = status.st_gid
        let isWritable = status.st_mode & (S_IWGRP | S_IWOTH) != 0
        isShared = isWritable || (owner != geteuid() && owner != 0)
        hasGroupFiles = status.st_mode & (S_ISGID | S_IWGRP) == S_ISGID | S_IWGRP
        isForGroup = hasGroupFiles && status.st_mode & S_IWOTH == 0
    }

    /// Makes sure that a file may be used, if there is one.
    ///
    /// - Parameter isLocked: Whether nobody else is making it: then it must not be somebody else's
    ///   empty file, nor have another name that leads to a file of theirs.
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
            throw .notPermitted(path: path, "it is a link or no plain file, and is not touched")
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
        // Nobody has begun a queue in it: the account that made it would own ours.
        guard status.st_size > 0 || ["-wal", "-shm", "-journal"].contains(where: path.hasSuffix)
        else {
            throw .notPermitted(
                path: path,
                "it is empty and belongs to uid \(uid), so it is not taken over; remove it")
        }
    }
}
