import AlertQueue
import FoundationEssentials

/// What a server or a hook needs of the process around it: a queue, streams, the time, signals.
package struct AgentContext: Sendable {
    /// Opens the queue for a source; a `nil` source means the process's own.
    let open: @Sendable (_ source: String?) async throws -> AlertManager
    /// Opens the queue if there is one, without creating it.
    let openExisting: @Sendable (_ source: String?) async throws -> AlertManager?
    /// Whether somebody still reads stdout.
    let hasReader: @Sendable () -> Bool
    /// Writes to stdout; once it has returned, the system has all of it.
    let write: @Sendable (_ text: String) throws -> Void
    /// Writes one line for the person who looks into an agent's logs.
    let note: @Sendable (_ line: String) -> Void
    /// The current time, from which ages are counted.
    let now: @Sendable () -> Date
    /// The signal that has asked the process to end, if one has.
    let ending: @Sendable () -> Int32?
    /// The signals that ask it to end, with those that have come before.
    let endings: @Sendable () -> AsyncStream<Int32>

    package init(
        open: @escaping @Sendable (_ source: String?) async throws -> AlertManager,
        openExisting: @escaping @Sendable (_ source: String?) async throws -> AlertManager?,
        hasReader: @escaping @Sendable () -> Bool,
        write: @escaping @Sendable (_ text: String) throws -> Void,
        note: @escaping @Sendable (_ line: String) -> Void,
        now: @escaping @Sendable () -> Date,
        ending: @escaping @Sendable () -> Int32?,
        endings: @escaping @Sendable () -> AsyncStream<Int32>
    ) {
        self.open = open
        self.openExisting = openExisting
        self.hasReader = hasReader
        self.write = write
        self.note = note
        self.now = now
        self.ending = ending
        self.endings = endings
    }
}
