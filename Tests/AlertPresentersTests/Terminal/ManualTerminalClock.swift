import Dispatch
import Synchronization

@testable import AlertPresenters

/// A terminal's clock that stands still until a test moves it.
final class ManualTerminalClock: TerminalClock {
    fileprivate struct Timer {
        let id: Int
        var time: ContinuousClock.Instant
        /// `nil` for what runs once.
        let interval: Duration?
        let queue: DispatchQueue
        let body: @Sendable () -> Void
    }

    fileprivate struct State {
        var now = ContinuousClock.now
        var timers: [Timer] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// Whether anything runs again and again: an alert is on the screen.
    var isTicking: Bool { state.withLock { $0.timers.contains { $0.interval != nil } } }

    func run(
        at moment: ContinuousClock.Instant, on queue: DispatchQueue,
        _ body: @escaping @Sendable () -> Void
    ) {
        let isDue = state.withLock { state in
            guard moment > state.now else { return true }
            state.add(moment, nil, queue, body)
            return false
        }
        if isDue { queue.async(execute: body) }
    }

    func run(
        every interval: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let id = state.withLock { $0.add($0.now + interval, interval, queue, body) }
        return { [weak self] in
            self?.state.withLock { state in state.timers.removeAll { $0.id == id } }
        }
    }

    /// Moves the time, and returns when all that was due meanwhile has run, each at its time.
    func advance(by duration: Duration) {
        let end = now + duration
        while let timer = state.withLock({ $0.next(until: end) }) {
            // On the queue: nothing that runs there sees the time move.
            timer.queue.sync {
                state.withLock { $0.now = timer.time }
                timer.body()
            }
        }
        state.withLock { $0.now = end }
    }

    /// Runs once more what runs again and again, without moving the time; returns whether there is
    /// any of that.
    func repeatNow() -> Bool {
        let timers = state.withLock { $0.timers.filter { $0.interval != nil } }
        for timer in timers { timer.queue.sync(execute: timer.body) }
        return !timers.isEmpty
    }
}

extension ManualTerminalClock.State {
    @discardableResult
    fileprivate mutating func add(
        _ time: ContinuousClock.Instant, _ interval: Duration?, _ queue: DispatchQueue,
        _ body: @escaping @Sendable () -> Void
    ) -> Int {
        lastID += 1
        timers.append(.init(id: lastID, time: time, interval: interval, queue: queue, body: body))
        return lastID
    }

    /// Takes the next timer that is due by a moment; what runs again and again stays.
    fileprivate mutating func next(until end: ContinuousClock.Instant) -> ManualTerminalClock.Timer?
    {
        let due = timers.indices.filter { timers[$0].time <= end }
        guard let index = due.min(by: { timers[$0].time < timers[$1].time }) else { return nil }
        let timer = timers[index]
        if let interval = timer.interval {
            timers[index].time += interval
        } else {
            timers.remove(at: index)
        }
        return timer
    }
}
