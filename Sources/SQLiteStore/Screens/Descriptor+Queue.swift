import AlertCore
import Glibc
import Linux

extension Descriptor {
    /// Opens a file of a queue for reading and writing; a missing one is created with exactly
    /// `mode`, regardless of the umask.
    ///
    /// One that root creates next to another account's database belongs to that account, which
    /// could not use it otherwise; SQLite does the same with its own files. No file that exists
    /// changes its owner: it may have been put there by somebody who wants it.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)`` or ``AlertError/storage(operation:_:)``.
    static func open(_ path: String, mode: mode_t) throws(AlertError) -> Descriptor {
        let descriptor: Descriptor
        do {
            descriptor = try openOrCreate(path, mode: mode) { leave($0, toOwnerOf: path) }
        } catch {
            throw error.code == ELOOP ? refusal(of: path) : AlertError(error, path: path)
        }
        guard descriptor.isPlainFile else { throw refusal(of: path) }
        return descriptor
    }

    private static func leave(_ file: Int32, toOwnerOf path: String) {
        var database = stat()
        guard geteuid() == 0, let ending = QueueFiles.endings.first(where: path.hasSuffix),
            stat(String(path.dropLast(ending.count)), &database) == 0, database.st_uid != 0
        else { return }
        // If that fails, the file is root's, and its owner gets an error that says so.
        _ = fchown(file, database.st_uid, database.st_gid)
    }

    private static func refusal(of path: String) -> AlertError {
        .notPermitted(path: path, "it is a link or not a regular file, and is not touched")
    }
}
