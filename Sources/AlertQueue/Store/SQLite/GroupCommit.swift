import Dispatch
import Synchronization

/// Gathers the writes that wait into one transaction, so that one sync serves them all.
///
/// There is no delay window: a lone writer never waits for company, and whoever comes while a
/// commit is under way shares the next one. A thread of its own takes the writer lock and runs the
/// transactions, because both block and tasks have few threads.
final class GroupCommit: Sendable {
    /// How long a caller waits for its transaction to begin, unless set otherwise.
    static let busyTime = Duration.seconds(5)
    /// How many members share a transaction at most; what comes later waits for the next.
    static let maximumBatch = 1000
    /// How long a rider waits for company before it is committed by itself.
    static let riderTime = Duration.milliseconds(100)
    /// How long riders wait after a transaction that failed, so that trying again is no spin.
    static let riderPause = Duration.seconds(1)
    /// How many riders are kept while they can't be written.
    static let maximumRiders = 10_000

    private struct State {
        var waiting: [WriteJob] = []
        /// Members that nobody waits for; they ride along with the next transaction.
        var riders: [WriteJob] = []
        /// When the riders are committed, even if nobody comes along.
        var ridersDue = ContinuousClock.now
        var isSignalled = false
        var isBlocked = false
        /// Whether the look at those who wait is scheduled.
        var isWatched = false
        var isClosing = false
        /// When whoever closes stops waiting for a thread that is blocked.
        var closeLimit: ContinuousClock.Instant?
        /// Set when the thread has ended, with the reason if it failed.
        var end: AlertError?
        var onClosed: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let busyTime: Duration
    private let onCommit: @Sendable () -> Void

    /// Starts the writer's thread; `onCommit` is called there after each commit.
    ///
    /// - Throws: what opening the database throws.
    static func start(
        files: QueueFiles, clock: any AlertClock, known: KnownHead,
        busyTime: Duration = busyTime, onCommit: @escaping @Sendable () -> Void
    ) async throws(AlertError) -> GroupCommit {
        let group = GroupCommit(busyTime: busyTime, onCommit: onCommit)
        let failure: AlertError? = await withCheckedContinuation { continuation in
            DedicatedThread.run {
                group.run(files: files, clock: clock, known: known) {
                    continuation.resume(returning: $0)
                }
            }
        }
        if let failure { throw failure }
        return group
    }

    private init(busyTime: Duration, onCommit: @escaping @Sendable () -> Void) {
        self.busyTime = busyTime
        self.onCommit = onCommit
    }

    /// Runs a closure in a transaction, and returns its result once that is on disk.
    ///
    /// - Throws: what the closure throws, in which case nothing of it is stored;
    ///   ``AlertError/busy(_:)`` if the transaction could not begin within the busy time.
    func perform<Result: Sendable>(
        _ kind: WriteJob.Kind, _ operation: String,
        _ body: @escaping @Sendable (WriteContext) throws -> Result
    ) async throws(AlertError) -> Result {
        let box = ResultBox<Result>()
        let failure: AlertError? = await withCheckedContinuation { continuation in
            let job = WriteJob(kind: kind, operation: operation) { context in
                box.put(try body(context))
            } finish: { error in
                continuation.resume(returning: error)
            }
            let refusal = state.withLock { state -> AlertError? in
                if state.isClosing { return state.end ?? .closed }
                state.waiting.append(job)
                return nil
            }
            if let refusal { continuation.resume(returning: refusal) } else { signal() }
        }
        if let failure { throw failure }
        guard let result = box.take() else { throw .closed }
        return result
    }

    /// Has a closure ride along with the next transaction, without waiting for it.
    func ride(_ operation: String, _ body: @escaping @Sendable (WriteContext) throws -> Void) {
        state.withLock { state in
            guard !state.isClosing else { return }
            if state.riders.count >= Self.maximumRiders { state.riders.removeFirst() }
            if state.riders.isEmpty { state.ridersDue = ContinuousClock.now + Self.riderTime }
            state.riders.append(
                WriteJob(kind: .upkeep, operation: operation, work: body, finish: { _ in }))
        }
        signal()
    }

    /// Writes what still waits, and ends the thread.
    ///
    /// While somebody else holds the lock it returns after the busy time, and the thread ends
    /// later.
    func close() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.end == nil else { return true }
                state.isClosing = true
                state.closeLimit = state.closeLimit ?? ContinuousClock.now + busyTime
                state.onClosed.append { continuation.resume() }
                return false
            }
            if isOver { continuation.resume() } else { signal() }
        }
    }

    /// Ends the thread once it has written what still waits, without waiting for that.
    func closeSoon() {
        state.withLock { $0.isClosing = true }
        signal()
    }

    private func signal() {
        let isNew = state.withLock { state in
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if isNew { wakeUp.signal() }
    }
}

// MARK: - The writer's thread

extension GroupCommit {
    private func run(
        files: QueueFiles, clock: any AlertClock, known: KnownHead, started: (AlertError?) -> Void
    ) {
        let writer = Writer(files: files, clock: clock, known: known, busyTime: busyTime)
        do throws(AlertError) {
            try writer.open()
        } catch {
            state.withLock { state in
                state.isClosing = true
                state.end = error
            }
            started(error)
            return
        }
        started(nil)
        while waitForWork() {
            runBatch(with: writer)
        }
        let onClosed = state.withLock { state in
            state.end = .closed
            defer { state.onClosed.removeAll() }
            return state.onClosed
        }
        for closed in onClosed { closed() }
    }

    /// Waits until there is something to write; `false` once everything is written and closed.
    private func waitForWork() -> Bool {
        while true {
            let (isReady, isOver, ridersDue) = state.withLock { state in
                state.isSignalled = false
                let isReady = !state.waiting.isEmpty || (state.isClosing && !state.riders.isEmpty)
                let ridersDue = state.riders.isEmpty ? nil : state.ridersDue
                return (isReady, state.isClosing && !isReady, ridersDue)
            }
            if isReady { return true }
            if isOver { return false }
            guard let ridersDue else {
                wakeUp.wait()
                continue
            }
            // Nobody came along: the riders are committed by themselves. More of them don't put
            // that off.
            let rest = ridersDue - ContinuousClock.now
            guard rest > .zero else { return true }
            _ = wakeUp.wait(timeout: .now() + .milliseconds(Int(rest.milliseconds)))
        }
    }

    private func runBatch(with writer: Writer) {
        do throws(AlertError) {
            try lock(writer)
        } catch {
            failWaiting(with: error)
            return
        }
        defer { writer.unlock() }
        do throws(AlertError) {
            try begin(writer)
        } catch {
            failWaiting(with: error)
            return
        }
        let (riders, batch) = takeBatch()
        guard !batch.isEmpty || !riders.isEmpty else {
            writer.rollback()
            return
        }
        let outcome = writer.commit(riders + batch)
        if outcome.isCommitted { onCommit() }
        for (job, error) in zip(riders + batch, outcome.errors) { job.finish(error) }
        if outcome.mustKeepRiders { keep(riders) }
        writer.checkpointIfDue()
    }

    /// Takes the writer lock; while that blocks, those give up who have waited too long.
    private func lock(_ writer: Writer) throws(AlertError) {
        if try writer.tryLock() { return }
        watchWaiting(true)
        defer { watchWaiting(false) }
        try writer.lock()
    }

    /// Begins a transaction, against programs that write without our lock, too.
    private func begin(_ writer: Writer) throws(AlertError) {
        defer { watchWaiting(false) }
        while true {
            do {
                return try writer.begin()
            } catch {
                guard case .busy = error, state.withLock({ !$0.waiting.isEmpty }) else {
                    throw error
                }
                watchWaiting(true)
            }
        }
    }

    private func takeBatch() -> (riders: [WriteJob], batch: [WriteJob]) {
        state.withLock { state in
            let riders = Array(state.riders.prefix(Self.maximumBatch))
            let batch = Array(state.waiting.prefix(Self.maximumBatch))
            state.riders.removeFirst(riders.count)
            state.waiting.removeFirst(batch.count)
            return (riders, batch)
        }
    }

    private func keep(_ riders: [WriteJob]) {
        state.withLock { state in
            guard !state.isClosing else { return }
            state.riders = Array((riders + state.riders).suffix(Self.maximumRiders))
            state.ridersDue = ContinuousClock.now + Self.riderPause
        }
    }

    private func failWaiting(with error: AlertError) {
        let failed = state.withLock { state in
            defer { state.waiting.removeAll() }
            if state.isClosing { state.riders.removeAll() }
            state.ridersDue = ContinuousClock.now + Self.riderPause
            return state.waiting
        }
        for job in failed { job.finish(error) }
    }

    /// Has those who wait looked at ten times a second, for as long as the thread is blocked.
    private func watchWaiting(_ isBlocked: Bool) {
        let mustStart = state.withLock { state in
            state.isBlocked = isBlocked
            guard isBlocked, !state.isWatched else { return false }
            state.isWatched = true
            return true
        }
        if mustStart { scheduleWatch() }
    }

    private func scheduleWatch() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) {
            let (late, closed, goesOn) = self.state.withLock { state in
                guard state.isBlocked else {
                    state.isWatched = false
                    return ([WriteJob](), [@Sendable () -> Void](), false)
                }
                let now = ContinuousClock.now
                let limit = now - self.busyTime
                let late = state.waiting.filter { $0.enqueued <= limit }
                state.waiting.removeAll { $0.enqueued <= limit }
                guard let closeLimit = state.closeLimit, closeLimit <= now else {
                    return (late, [], true)
                }
                defer { state.onClosed.removeAll() }
                return (late, state.onClosed, true)
            }
            for job in late { job.finish(.locked(after: self.busyTime)) }
            for closed in closed { closed() }
            if goesOn { self.scheduleWatch() }
        }
    }
}

extension AlertError {
    /// Another process has held the queue's lock for too long.
    static func locked(after time: Duration) -> AlertError {
        .busy(
            "the queue is locked by another process; "
                + "waited \(time.components.seconds) s, try again")
    }
}
