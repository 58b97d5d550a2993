import Foundation
import Glibc
import TestSupport

extension CommandLineQueue {
    /// A process that holds the writer lock until it is killed, and is stopped unless said
    /// otherwise.
    package func lockHolder(isStopped: Bool = true) async throws -> Child {
        let lock = path + "-lock"
        let holder = try Child("flock", ["-F", lock, "sleep", "600"])
        // It becomes the other program once it has the lock, which others take for moments.
        let isHeld = await eventually {
            (try? String(contentsOfFile: "/proc/\(holder.pid)/comm", encoding: .utf8)) == "sleep\n"
        }
        guard isHeld else { throw TestingError("no process holds \(lock)") }
        if isStopped { try await holder.stop() }
        return holder
    }
}
