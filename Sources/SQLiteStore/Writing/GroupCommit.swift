import AlertCore
import Dispatch
import Glibc
import Linux
import Synchronization

/// Combines waiting writes into one transaction, so that one sync serves all of them.
///
/// There is no delay window. A transaction takes the writes that wait, runs them, and looks again
/// until no more have come, because the callers of one commit return at about the same time. Writes
/// that come during its commit share the next one. A dedicated thread takes the writer lock and
/// runs the transactions, because both block and tasks have few threads.
///
/// Gain: for 16 waiting tasks 5 times as many asks are stored, and for 512 tasks 8 times as many
/// (`alertq-bench ask`, files in memory; against a ``maximumBatch`` of 1).
final class GroupCommit: Sendable {
    /// How long a caller waits for its transaction to begin, unless set otherwise.
    static let busyTime = Duration.seconds(5)
    /// The maximum number of callers that share a transaction, and that of deferred writes; later
    /// ones wait for the next.
    static let maximumBatch = 1000
    /// For how long others may join a transaction whose first members have run.
    static let joiningTime = Duration.milliseconds(10)
    /// How long a deferred write waits for another write before it is committed by itself. What the
    /// log says of an alert is in order, unless another process writes within that time.
    static let deferralTime = Duration.milliseconds(10)
    /// How long deferred writes wait after a failed transaction, so that nothing spins.
    static let deferralPause = Duration.seconds(1)
    /// How many deferred writes are kept while they can't be written.
    static let maximumDeferred = 10_000
    /// The longest time of a quick transaction. After one, a single caller stays awake for its own
    /// until that is on disk: being woken takes a sixth as long as the transaction.
    ///
    /// Gain: asks of one caller take 0.80 times as long, and a story 0.86 times (`alertq-bench ask
    /// story --sync-delay 60`, files in memory; against a time of zero).
    static let quickTime = Duration.microseconds(500)
    static let hasOtherProcessors = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

    struct State {
        var waiting: [WriteJob] = []
        /// Writes for which nobody waits; they come before every later write of a caller, but
        /// patient ones may come after questions.
        var deferred: [WriteJob] = []
        /// When the deferred writes are committed even if no other write comes.
        var deferredDue = ContinuousClock.now
        /// Whether the thread sleeps until it is woken, or until ``wakeTime``.
        var isAsleep = false
        var wakeTime: ContinuousClock.Instant?
        var isBlocked = false
        /// Whether a check of the waiting callers is scheduled.
        var isWatched = false
        var isClosing = false
        /// When a closing caller stops waiting for a blocked thread.
        var closeLimit: ContinuousClock.Instant?
        /// Set when the thread has ended, with the error if it failed.
        var end: AlertError?
        var onClosed: [@Sendable () -> Void] = []
    }

    let state = Mutex(State())
    /// Whether the last transaction was on disk soon, had the lock to itself, and served one caller
    /// at most.
    let isQuick = Atomic(false)
    /// Whether the state has changed since a thread that is awake last looked at it.
    let hasNews = Atomic(false)
    /// How long jobs wait for a lock once this process is about to end; `nil` until then.
    let shutdownWait = Mutex<ShutdownWait?>(nil)
    private let files: QueueFiles
    var lockFile: String { files.lock }
    let wakeUp = DispatchSemaphore(value: 0)
    let busyTime: Duration
    let onCommit: @Sendable (_ concernsOthers: Bool) -> Void
    let ring: @Sendable () -> Void

    /// Starts the writer's thread.
    ///
    /// After each commit `onCommit` is called on that thread before waiting callers continue, and
    /// `ring` afterwards, for other processes.
    ///
    /// - Throws: The errors of opening the database.
    static nonisolated(nonsending) func start(
        files: QueueFiles, clock: any AlertClock, known: LogTail,
        busyTime: Duration = busyTime,
        onCommit: @escaping @Sendable (_ concernsOthers: Bool) -> Void,
        ring: @escaping @Sendable () -> Void
    ) async throws(AlertError) -> GroupCommit {
        let group = GroupCommit(
            files: files, busyTime: busyTime, onCommit: onCommit, ring: ring)
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

    /// Creates one that has ended: every write is refused with an error.
    static func refusing(_ error: AlertError, files: QueueFiles) -> GroupCommit {
        let group = GroupCommit(
            files: files, busyTime: .zero, onCommit: { _ in }, ring: {})
        group.state.withLock { ($0.isClosing, $0.end) = (true, error) }
        return group
    }

    private init(
        files: QueueFiles, busyTime: Duration, onCommit: @escaping @Sendable (Bool) -> Void,
        ring: @escaping @Sendable () -> Void
    ) {
        self.files = files
        self.busyTime = busyTime
        self.onCommit = onCommit
        self.ring = ring
    }

    /// Runs a closure in a transaction, and returns its result once that is on disk.
    ///
    /// - Parameter isOptional: Whether it is skipped if the store closes first.
    /// - Throws: The closure's error, in which case nothing of it is stored;
    ///   ``AlertError/busy(_:)`` if the transaction could not begin within the busy time.
    nonisolated(nonsending) func perform<Result: Sendable>(
        _ kind: WriteJob.Kind, _ operation: String, isOptional: Bool = false,
        _ body: @escaping @Sendable (WriteContext) throws -> Result
    ) async throws(AlertError) -> Result {
        let box = ResultBox<Result>()
        try await wait { finish in
            WriteJob(
                kind: kind, isOptional: isOptional, operation: operation,
                work: { box.put(try body($0)) }, finish: finish)
        }
        guard let result = box.value else { throw .closed }
        return result
    }

    /// Runs a closure under the writer lock, but not in a transaction.
    ///
    /// - Throws: The closure's error; ``AlertError/busy(_:)`` if the lock could not be taken within
    ///   the busy time.
    nonisolated(nonsending) func performAlone<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Writer) throws -> Result
    ) async throws(AlertError) -> Result {
        let box = ResultBox<Result>()
        try await wait { finish in
            WriteJob(
                kind: .upkeep, operation: operation, work: { _ in }, finish: finish,
                afterCommit: { box.put(try body($0)) })
        }
        guard let result = box.value else { throw .closed }
        return result
    }

    /// Submits a job, and returns when it is done.
    private nonisolated(nonsending) func wait(
        for job: (@escaping @Sendable (AlertError?) -> Void) -> WriteJob
    ) async throws(AlertError) {
        if Self.hasOtherProcessors, isQuick.load(ordering: .relaxed) {
            let end = OneShot<AlertError?>()
            let isAlone = submit(job { end.deliver($0) })
            if isAlone { end.stayAwake(for: Self.quickTime) }
            if let failure = await end.value() { throw failure }
        } else {
            let failure = await withCheckedContinuation { continuation in
                submit(job { continuation.resume(returning: $0) })
            }
            if let failure { throw failure }
        }
    }

    /// Leaves a job to the thread, and returns whether no other one waits.
    @discardableResult
    private func submit(_ job: WriteJob) -> Bool {
        let (refusal, isAlone) = change { state -> (AlertError?, Bool) in
            if state.isClosing { return (state.end ?? .closed, false) }
            state.waiting.append(job)
            return (nil, state.waiting.count == 1)
        }
        if let refusal { job.finish(refusal) }
        return isAlone
    }

    /// Schedules a closure for the next transaction, or soon for one of its own, and doesn't wait.
    ///
    /// Gain of sharing the next one: a story takes 0.82 times as long if a sync takes 150 µs, and
    /// 0.93 times the CPU time if it takes none (`alertq-bench story --sync-delay 150`, files in
    /// memory; against a signal to the thread for each).
    ///
    /// Gain of patience: a question reaches its presenter in 0.90 times the time (`alertq-bench
    /// story --sync-delay 60`, files in memory; against `false`).
    ///
    /// - Parameter isPatient: Whether it need not share a transaction that only has questions.
    func deferWrite(
        _ operation: String, isPatient: Bool = false,
        _ body: @escaping @Sendable (WriteContext) throws -> Void
    ) {
        let mustWake = state.withLock { state in
            guard !state.isClosing else { return false }
            if state.deferred.count >= Self.maximumDeferred { state.deferred.removeFirst() }
            let isFirst = state.deferred.isEmpty
            if isFirst { state.deferredDue = ContinuousClock.now + Self.deferralTime }
            state.deferred.append(
                WriteJob(
                    kind: .upkeep, isPatient: isPatient, operation: operation, work: body))
            // The thread handles the others when the first one is due, and may wake up by then.
            let isLate = state.wakeTime.map { $0 > state.deferredDue } ?? true
            return isFirst && isLate && state.isAsleep.exchange(false)
        }
        if mustWake { wakeUp.signal() }
    }

    /// Writes all remaining jobs, and ends the thread.
    ///
    /// While another process holds the lock, it returns after the busy time, and the thread ends
    /// later.
    nonisolated(nonsending) func close() async {
        dropOptional()
        await withCheckedContinuation { continuation in
            let isOver = change { state in
                guard state.end == nil else { return true }
                // With nothing to write, there is no need to wait for the holder of the lock.
                let isIdle = state.waiting.isEmpty && state.deferred.isEmpty
                state.closeLimit =
                    state.closeLimit ?? ContinuousClock.now + (isIdle ? .zero : busyTime)
                state.onClosed.append { continuation.resume() }
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Stops all jobs from waiting long for a lock that another process holds: this process is to
    /// end.
    func prepareToEnd() {
        shutdownWait.withLock { $0 = $0 ?? ShutdownWait(files: files) }
    }

    /// Ends the thread once it has written all remaining jobs, without waiting for that.
    func closeSoon() { dropOptional() }

    /// Accepts no more jobs from now on, and drops the optional ones.
    private func dropOptional() {
        let dropped = change { state in
            state.isClosing = true
            defer { state.waiting.removeAll(where: \.isOptional) }
            return state.waiting.filter(\.isOptional)
        }
        for job in dropped { job.finish(.closed) }
    }

    /// Changes the state, and makes the thread look at it.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, mustWake) = state.withLock { (body(&$0), $0.isAsleep.exchange(false)) }
        hasNews.store(true, ordering: .releasing)
        if mustWake { wakeUp.signal() }
        return result
    }
}

extension Bool {
    /// Changes it, and returns what it was.
    fileprivate mutating func exchange(_ new: Bool) -> Bool {
        defer { self = new }
        return self
    }
}

extension AlertError {
    /// The error when another process has held the queue's lock for too long; a time under a second
    /// is not mentioned.
    static func locked(after time: Duration, lockFile: String) -> AlertError {
        let holder = FileLocks(path: lockFile)?.flockHolder()
        let seconds = time.components.seconds
        // While a program that ignores the lock is writing, this process itself holds the lock.
        return .busy(
            "the queue is locked by another process"
                + (holder.map { $0.pid == getpid() ? "" : ", \($0.name)" } ?? "")
                + (holder?.isStopped == true ? ", which is stopped" : "")
                + (seconds > 0 ? "; waited \(seconds) s, try again" : "; try again"))
    }
}
