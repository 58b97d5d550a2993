import AlertCore
import Synchronization

/// A queue in memory that several stores share, as processes share a file.
final class InMemoryCore: Sendable {
    private struct State {
        var queue = InMemoryQueue()
        var changes = InMemoryChanges()
        var screens = InMemoryScreens()
        var processes = 0
    }

    private let state = Mutex(State())
    /// Signals that something has changed.
    let changed = ChangeSignal()
    /// Signals that the screens have changed, and that one of them may be able to lead now.
    let screensChanged = ChangeSignal()

    /// The maximum number of events in one reading of the news.
    private static let pageLength = 256

    /// Reads the queue at one moment.
    func read<Result: Sendable>(
        _ body: (InMemoryQueue) throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        try state.withLock { state throws(AlertError) in try body(state.queue) }
    }

    /// Adds a process; returns its number.
    func open() -> Int {
        state.withLock { state in
            state.processes += 1
            state.changes.open(state.processes)
            return state.processes
        }
    }

    func close(_ process: Int) {
        state.withLock { state in
            state.changes.close(process)
            state.screens.release(process: process)
        }
        screensChanged.change()
        changed.change()
    }

    /// Changes the queue, and wakes the callers that wait for a change.
    func write<Result: Sendable>(
        at now: ClockReading, by caller: Caller, keeper: Caller, process: Int,
        _ body: (InMemoryTransaction) throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        let outcome = state.withLock { state in
            let transaction = InMemoryTransaction(
                of: state.queue, state.screens, at: now, by: caller, keeper: keeper,
                process: process)
            // With a second reference to it, each write would copy it.
            state.queue = InMemoryQueue()
            let before = (transaction.head.sequence, awakened: transaction.queue.awakened)
            let result = Swift.Result { () throws(AlertError) in try body(transaction) }
            let queue = transaction.queue
            state.queue = queue
            let isAwakened = queue.awakened != before.awakened
            let new = queue.log.lines(after: before.0)
            let hasChanged = isAwakened || !new.isEmpty
            if hasChanged {
                state.changes.add(
                    by: process,
                    concernsOthers: isAwakened || new.contains(where: \.concernsOthers))
            }
            return (result, hasChanged: hasChanged)
        }
        if outcome.hasChanged { changed.change() }
        return try outcome.0.get()
    }

    /// The end of the log, as a process sees it.
    func position() -> LogPosition {
        state.withLock { state in
            LogPosition(state.queue.log.head, mark: state.changes.count)
        }
    }

    /// The news for a process after a position, and whether there is none.
    func news(
        after position: LogPosition, of scope: News.Scope, for process: Int
    ) throws(AlertError) -> (news: News, isEmpty: Bool) {
        try state.withLock { state throws(AlertError) in
            let lines = try state.queue.log.lines(after: position.head).lazy.filter { line in
                switch scope {
                case .everybody: true
                case .others: line.concernsOthers || line.process != process
                }
            }.prefix(Self.pageLength)
            let hasChanged = state.changes.hasChanged(
                since: position.mark, in: scope, for: process)
            var end = LogPosition(state.queue.log.head, mark: state.changes.count)
            let events = Array(lines.map(state.queue.event))
            // A full page may not be all: the rest is to be read at once.
            if events.count == Self.pageLength, let last = events.last {
                end = LogPosition(last.cursor)
            }
            let news = News(events: events, position: end, hasChanged: hasChanged)
            return (news, events.isEmpty && !hasChanged)
        }
    }

    /// The records, with whether they are orphaned.
    func markingOrphans(in records: [AlertRecord], at now: ClockReading) -> [AlertRecord] {
        state.withLock { state in
            records.map { record in
                var record = record
                record.isOrphaned =
                    record.mayBeOrphaned(at: now) && !state.screens.isAwaited(record.id)
                    && state.queue.alert(record.id)?.response == nil
                return record
            }
        }
    }

    func withScreens<Result: Sendable>(
        _ body: (inout InMemoryScreens) -> Result
    ) -> Result {
        state.withLock { body(&$0.screens) }
    }
}
