import AlertCore
import Glibc
import Linux

extension Descriptor {
    /// Opens a file of a queue for reading and writing; a missing one is created with exactly
    /// `mode`, regardless of the umask.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)`` or ``AlertError/storage(operation:_:)``.
    static func open(_ path: String, mode: mode_t) throws(AlertError) -> Descriptor {
        let descriptor: Descriptor
        do {
            descriptor = try openOrCreate(path, mode: mode)
        } catch {
            throw error.code == ELOOP ? refusal(of: path) : AlertError(error, path: path)
        }
        guard descriptor.isPlainFile else { throw refusal(of: path) }
        return descriptor
    }

    private static func refusal(of path: String) -> AlertError {
        .notPermitted(path: path, "it is a link or not a regular file, and is not touched")
    }
}
