import Foundation
import TestSupport

extension Child {
    /// Whether it watches for changes of the queue, which a verb that waits starts to do last.
    package var isWatchingFiles: Bool {
        let folder = "/proc/\(pid)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.contains { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: folder + "/" + number)
            return target == "anon_inode:inotify"
        }
    }
}
