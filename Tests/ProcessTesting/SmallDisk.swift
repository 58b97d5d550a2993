import TestSupport

/// A small file system in memory, for as long as it is kept. Only root can mount one.
package final class SmallDisk {
    private let path: String
    private var isMounted = false

    /// Mounts it over a directory.
    ///
    /// - Parameter size: How much it holds, as mount(8) takes it.
    package init(at path: String, size: String) async throws {
        self.path = path
        let mount = try Child("mount", ["-t", "tmpfs", "-o", "size=\(size)", "none", path])
        isMounted = await mount.exit() == 0
        guard isMounted else { throw TestingError("\(path) can't be mounted") }
    }

    deinit { if isMounted { _ = (try? Child("umount", ["-l", path]))?.wait() } }

    /// Mounts it again with other options.
    package func remount(_ options: String) async throws {
        let mount = try Child("mount", ["-o", "remount,\(options)", path])
        guard await mount.exit() == 0 else { throw TestingError("\(path): no \(options)") }
    }

    /// Fills it up with a file.
    ///
    /// - Returns: The file's path.
    package func fill() async throws -> String {
        let filler = path + "/filler"
        let fill = try Child("dd", ["if=/dev/zero", "of=" + filler, "bs=4096", "status=none"])
        guard await fill.finish().errors.contains("No space left") else {
            throw TestingError("\(path) is not full")
        }
        return filler
    }
}
