import Foundation
import Glibc

extension CommandLineQueue {
    /// A process that holds the writer lock, and is stopped unless said, until it is killed.
    package func lockHolder(isStopped: Bool = true) async throws -> Child {
        let lock = path + "-lock"
        let holder = try Child("flock", ["-F", lock, "sleep", "600"])
        let isHeld = try await eventually { try Child("flock", ["-n", lock, "true"]).wait() == 1 }
        guard isHeld else { throw TestingError("nobody holds \(lock)") }
        if isStopped { try await holder.stop() }
        return holder
    }
}

extension Child {
    /// Stops it, and returns when it stands still; see proc(5).
    package func stop() async throws {
        kill(SIGSTOP)
        let stat = "/proc/\(pid)/stat"
        let isStopped = await eventually {
            let text = try? String(contentsOfFile: stat, encoding: .utf8)
            return text?.split(separator: ")").last?.hasPrefix(" T") == true
        }
        guard isStopped else { throw TestingError("process \(pid) does not stop") }
    }
}

/// What a test needs did not come about.
package struct TestingError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
