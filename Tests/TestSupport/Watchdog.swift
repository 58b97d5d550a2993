import Foundation
import Glibc
import Synchronization
import Testing

/// Ends the process, with the names of the tests that run and what their threads wait for, when one
/// of them has not ended long after it should have.
///
/// A test that blocks a thread can't be cancelled. It would hold up the others until the machine's
/// own limit, and nobody would know which one it was.
final class Watchdog: Sendable {
    private struct Run {
        let test: Test
        let start = ContinuousClock.now
    }

    static let shared = Watchdog()

    /// Several times what the slowest test takes on a machine that is busy with other work, which is
    /// ten minutes. With a sanitizer, a program takes up to ten times as long to start; the full
    /// form of a fault test may take hours.
    static let limit = Duration.seconds(
        FaultForm.isFull ? 6 * 3600 : Sanitizer.name == nil ? 1800 : 6000)

    private let runs = Mutex<[UUID: Run]>([:])

    private init() {
        // A thread of its own: what holds up a test may hold up every queue and task as well.
        Thread.detachNewThread { [self] in
            while true {
                sleep(5)
                if let late = late() { end(late) }
            }
        }
    }

    /// Runs the body of a test.
    func watching<Result>(
        _ test: Test, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let id = UUID()
        runs.withLock { $0[id] = Run(test: test) }
        defer { runs.withLock { _ = $0.removeValue(forKey: id) } }
        return try await body()
    }

    /// All that run, oldest first, if one of them is late.
    private func late() -> [Run]? {
        let runs = runs.withLock { $0.values.sorted { $0.start < $1.start } }
        guard let oldest = runs.first, oldest.start.duration(to: .now) > Self.limit else {
            return nil
        }
        return runs
    }

    private func end(_ runs: [Run]) -> Never {
        var message = "✘ These tests run, and the first has not ended within \(Self.limit):\n"
        for run in runs {
            let seconds = run.start.duration(to: .now).components.seconds
            message += "  “\(run.test.displayName ?? run.test.name)” for \(seconds) s,"
            message += " \(run.test.sourceLocation)\n"
        }
        FileHandle.standardError.write(Data(message.utf8))
        // Without gdb, the names must do.
        _ = system("gdb --batch -p \(getpid()) -ex 'thread apply all backtrace 25' >&2")
        _exit(1)
    }
}
