import Foundation
import Glibc
import TestSupport

extension CommandLineQueue {
    /// A process that holds the writer lock until it is killed, and is stopped unless said
    /// otherwise.
    package func lockHolder(isStopped: Bool = true) async throws -> Child {
        let lock = path + "-lock"
        let holder = try Child("flock", ["-F", lock, "sleep", "600"])
        let isHeld = try await eventually { try Child("flock", ["-n", lock, "true"]).wait() == 1 }
        guard isHeld else { throw TestingError("no process holds \(lock)") }
        if isStopped { try await holder.stop() }
        return holder
    }
}
