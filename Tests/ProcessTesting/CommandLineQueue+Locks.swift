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

    /// Stops a process when it doesn't hold the lock: it still does for a moment after others can
    /// read what it has written, and what was posted is written a moment later.
    package func stopWithoutLock(_ process: Child) async throws {
        let isStopped = try await eventually {
            try await process.stop()
            let findings = try await objects("doctor")
            let lock = findings.first { $0["check"] as? String == "lock" }
            if lock?["ok"] as? Bool == true { return true }
            process.kill(SIGCONT)
            return false
        }
        guard isStopped else { throw TestingError("process \(process.pid) keeps the lock") }
    }

    /// A process that holds the locks of a purge that rewrites the database, until it is killed.
    package func rewriter() async throws -> Child {
        let script = """
            import fcntl, struct, sys, time
            file = open(sys.argv[1], "r+b")
            fcntl.flock(file, fcntl.LOCK_EX)
            first = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, first)
            print("held", flush=True)
            time.sleep(600)
            """
        let holder = try Child("python3", ["-c", script, path + "-lock"])
        guard await eventually({ holder.output.text == "held\n" }) else {
            throw TestingError("no process holds the locks of \(path)")
        }
        return holder
    }
}
