import AlertQueue
import Glibc

/// Stops the process when Ctrl-Z asks for that, and goes on hearing other signals: while it is
/// stopped, while it runs in the background, and while it leaves the screen.
struct Suspension: Sendable {
    /// Takes everything off the screen, before the process stops.
    let leave: @Sendable () async -> Void
    /// Waits until the job is in the foreground, and shows everything again; cancelled if the
    /// process is to stop again, or to end.
    let comeBack: @Sendable () async throws -> Void

    /// The first signal that asks for something else than a stop; `nil` if the task is cancelled.
    ///
    /// - Throws: The errors of ``comeBack``.
    func nextSignal(of signals: SignalWatch) async throws -> Int32? {
        let requests = ChangeSignal()
        let none = requests.count
        return try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                for await signal in signals.events {
                    guard signal == SIGTSTP else { return signal }
                    requests.change()
                }
                return nil
            }
            group.addTask {
                try await stop(after: none, of: requests)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Stops the process at each request, until the task is cancelled.
    private func stop(after count: UInt64, of requests: ChangeSignal) async throws {
        var seen = count
        while true {
            await requests.wait(after: seen)
            try Task.checkCancellation()
            seen = requests.count
            await leave()
            // A process that is to end no longer stops.
            try Task.checkCancellation()
            Program.suspend()
            try await withThrowingTaskGroup { group in
                group.addTask { try await comeBack() }
                group.addTask { [seen] in await requests.wait(after: seen) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
