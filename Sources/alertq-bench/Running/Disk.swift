import Glibc

/// The disk's own speed, against which every durable figure has to be read.
enum Disk {
    /// How long an overwrite of 4 KiB and fdatasync(2) take, in microseconds, one by one.
    static func syncTimes(in workspace: Workspace, count: Int) throws -> [Double] {
        let path = workspace.path("sync")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("can't create \(path)") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 1, count: 4096)
        // These writes create the file; the measured ones overwrite it.
        for block in 0..<16 { pwrite(descriptor, page, page.count, off_t(block * 4096)) }
        fsync(descriptor)
        return (0..<count).map { number in
            let start = ContinuousClock.now
            pwrite(descriptor, page, page.count, off_t(number % 16 * 4096))
            fdatasync(descriptor)
            return (ContinuousClock.now - start).inMicroseconds
        }
    }
}
