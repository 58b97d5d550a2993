import AlertCore
import Dispatch
import Glibc
import Linux
import SQLite
import Synchronization

/// Combines waiting writes into one transaction, so that one sync serves all of them.
///
/// There is no delay window. A transaction takes the writes that wait, runs them, and looks again
/// until no more have come, because the callers of one commit return at about the same time. Writes
/// that come during its commit share the next one. A dedicated thread takes the writer lock and
/// runs the transactions, because both block and tasks have few threads.
final class GroupCommit: Sendable {
    /// How long a caller waits for its transaction to begin, unless set otherwise.
    static let busyTime = Duration.seconds(5)
    /// How long it waits for a process that rewrites the database, as a purge does at its end.
    static let rewritingTime = Duration.seconds(120)
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
    /// How many deferred writes are kept while they can't be written; the oldest are dropped then,
    /// and that is reported.
    static let maximumDeferred = 10_000
    private static func loss(_ what: String, _ time: String) -> AlertError {
        .storage(
            operation: "record what was on the screen",
            "\(what) were dropped, because nothing could be written \(time)")
    }

    struct State {
        var waiting: [WriteJob] = []
        /// Writes for which nobody waits; they come before every later write of a caller.
        var deferred: [WriteJob] = []
        /// When the deferred writes are committed even if no other write comes.
        var deferredDue = ContinuousClock.now
        /// Whether deferred writes were dropped since some were last written.
        var hasDropped = false
        /// Whether the thread sleeps until it is woken, or until ``wakeTime``.
        var isAsleep = false
        var wakeTime: ContinuousClock.Instant?
        var isBlocked = false
        /// Whether a check of the waiting callers is scheduled.
        var isWatched = false
        var isClosing = false
        /// When another process was last seen to rewrite the database.
        var lastRewriting: ContinuousClock.Instant?
        /// When a closing caller stops waiting for a blocked thread.
        var closeLimit: ContinuousClock.Instant?
        /// Set when the thread has ended, with the error if it failed.
        var end: AlertError?
        var onClosed: [@Sendable () -> Void] = []
    }

    let state = Mutex(State())
    /// How long jobs wait for a lock once this process is about to end; `nil` until then.
    let shutdownWait = Mutex<ShutdownWait?>(nil)
    private let files: QueueFiles
    var lockFile: String { files.lock }
    let wakeUp = DispatchSemaphore(value: 0)
    let busyTime: Duration
    let onCommit: @Sendable (_ concernsOthers: Bool) -> Void
    let ring: @Sendable () -> Void
    private let onTrouble: @Sendable (AlertError) -> Void

    /// Starts the writer's thread.
    ///
    /// After each commit `onCommit` is called on that thread before waiting callers continue, and
    /// `ring` afterwards, for other processes. `onTrouble` is called when deferred writes are dropped.
    ///
    /// - Throws: The errors of opening the database.
    static nonisolated(nonsending) func start(
        files: QueueFiles, clock: any AlertClock, known: LogTail,
        busyTime: Duration = busyTime, onTrouble: @escaping @Sendable (AlertError) -> Void,
        onCommit: @escaping @Sendable (_ concernsOthers: Bool) -> Void,
        ring: @escaping @Sendable () -> Void
    ) async throws(AlertError) -> GroupCommit {
        let group = GroupCommit(
            files: files, busyTime: busyTime, onTrouble: onTrouble, onCommit: onCommit, ring: ring)
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
            files: files, busyTime: .zero, onTrouble: { _ in }, onCommit: { _ in }, ring: {})
        group.state.withLock { ($0.isClosing, $0.end) = (true, error) }
        return group
    }

    private init(
        files: QueueFiles, busyTime: Duration, onTrouble: @escaping @Sendable (AlertError) -> Void,
        onCommit: @escaping @Sendable (Bool) -> Void, ring: @escaping @Sendable () -> Void
    ) {
        self.onTrouble = onTrouble
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
    /// - Parameter preparation: Runs in a transaction before, under the same lock.
    /// - Throws: The closure's error; ``AlertError/busy(_:)`` if the lock could not be taken within
    ///   the busy time.
    nonisolated(nonsending) func performAlone<Result: Sendable>(
        _ operation: String,
        after preparation: @escaping @Sendable (WriteContext) throws -> Void = { _ in },
        _ body: @escaping @Sendable (Writer) throws -> Result
    ) async throws(AlertError) -> Result {
        let box = ResultBox<Result>()
        try await wait { finish in
            WriteJob(
                kind: .upkeep, operation: operation, work: preparation, finish: finish,
                afterCommit: { box.put(try body($0)) })
        }
        guard let result = box.value else { throw .closed }
        return result
    }

    /// Submits a job, and returns when it is done.
    private nonisolated(nonsending) func wait(
        for job: (@escaping @Sendable (AlertError?) -> Void) -> WriteJob
    ) async throws(AlertError) {
        let failure = await withCheckedContinuation { continuation in
            submit(job { continuation.resume(returning: $0) })
        }
        if let failure { throw failure }
    }

    /// Leaves a job to the thread.
    private func submit(_ job: WriteJob) {
        let refusal = change { state -> AlertError? in
            if state.isClosing { return state.end ?? .closed }
            state.waiting.append(job)
            return nil
        }
        if let refusal { job.finish(refusal) }
    }

    /// Schedules a closure for the next transaction, or soon for one of its own, and doesn't wait.
    func deferWrite(
        _ operation: String, _ body: @escaping @Sendable (WriteContext) throws -> Void
    ) {
        let mustWake = changeDeferred { state in
            guard !state.isClosing else { return false }
            let isFirst = state.deferred.isEmpty
            if isFirst { state.deferredDue = ContinuousClock.now + Self.deferralTime }
            state.deferred.append(WriteJob(kind: .upkeep, operation: operation, work: body))
            // The thread handles the others when the first one is due, and may wake up by then.
            let isLate = state.wakeTime.map { $0 > state.deferredDue } ?? true
            return isFirst && isLate && state.isAsleep.exchange(false)
        }
        if mustWake { wakeUp.signal() }
    }

    /// Changes the deferred writes, drops the oldest of too many, and reports that once.
    func changeDeferred<Result>(_ body: (inout sending State) -> Result) -> Result {
        let (result, isLoss) = state.withLock { state in
            let result = body(&state)
            let excess = state.deferred.count - Self.maximumDeferred
            guard excess > 0 else { return (result, false) }
            state.deferred.removeFirst(excess)
            defer { state.hasDropped = true }
            return (result, !state.hasDropped)
        }
        if isLoss {
            let oldest = "the oldest of more than \(Self.maximumDeferred) entries"
            onTrouble(Self.loss(oldest, "for too long"))
        }
        return result
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
    static func locked(
        after time: Duration, lockFile: String, isRewriting: Bool = false
    ) -> AlertError {
        let holder = FileLocks(path: lockFile)?.flockHolder()
        let seconds = time.components.seconds
        // While a program that ignores the lock is writing, this process itself holds the lock.
        return .busy(
            "the queue is locked by another process"
                + (holder.map { $0.pid == getpid() ? "" : ", \($0.name)" } ?? "")
                + (holder?.isStopped == true ? ", which is stopped" : "")
                + (isRewriting ? ", which rewrites the database for a purge" : "")
                + (seconds > 0 ? "; waited \(seconds) s, try again" : "; try again"))
    }
}

// The writer's thread.
extension GroupCommit {
    func run(
        files: QueueFiles, clock: any AlertClock, known: LogTail, started: (AlertError?) -> Void
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
        writer.close(within: shutdownWait.withLock { $0 == nil } ? .seconds(1) : .zero)
        let onClosed = state.withLock { state in
            state.end = .closed
            defer { state.onClosed.removeAll() }
            return state.onClosed
        }
        for closed in onClosed { closed() }
    }

    /// What has been taken into one transaction.
    private struct Batch {
        var deferred: [WriteJob] = []
        /// How many callers wait for it.
        var callers = 0
        /// When others may no longer join it.
        var end: ContinuousClock.Instant?
        var isEmpty: Bool { callers == 0 && deferred.isEmpty }
    }

    private enum Step {
        case work
        case sleep(until: ContinuousClock.Instant?)
        case end
    }

    /// Waits until there is something to write; `false` once everything is written and closed.
    private func waitForWork() -> Bool {
        while true {
            switch nextStep() {
            case .work: return true
            case .end: return false
            case .sleep(nil): wakeUp.wait()
            case .sleep(let end?):
                let rest = end - ContinuousClock.now
                _ = wakeUp.wait(timeout: .now() + rest.dispatch)
            }
        }
    }

    private func nextStep() -> Step {
        state.withLock { state in
            (state.isAsleep, state.wakeTime) = (false, nil)
            if !state.waiting.isEmpty { return .work }
            let due = state.deferred.isEmpty ? nil : state.deferredDue
            if state.isClosing { return due == nil ? .end : .work }
            // No other write came: the deferred writes are committed by themselves; further
            // deferred ones don't delay that.
            if let due, due <= ContinuousClock.now { return .work }
            (state.isAsleep, state.wakeTime) = (true, due)
            return .sleep(until: due)
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
        var batch = Batch()
        let first = take(into: &batch)
        guard !first.isEmpty else {
            writer.rollback()
            return
        }
        let outcome = writer.commit(first) { self.takeLater(into: &batch) }
        if outcome.isCommitted { onCommit(outcome.concernsOthers) }
        var afterCommits: [WriteJob] = []
        for (job, error) in zip(outcome.jobs, outcome.errors) {
            if error == nil, job.afterCommit != nil {
                afterCommits.append(job)
            } else {
                job.finish(error)
            }
        }
        // Callers that waited here continue while other processes are notified.
        if outcome.isCommitted { ring() }
        if outcome.mustKeepDeferred {
            keep(batch.deferred)
        } else if !batch.deferred.isEmpty {
            state.withLock { $0.hasDropped = false }
        }
        writer.checkpointIfDue()
        if outcome.isCommitted, outcome.jobs.contains(where: { $0.kind == .answer }) {
            writer.mayHaveNewTexts = true
            writer.indexTexts(ifAtLeast: Writer.manyUnindexed)
        }
        for job in afterCommits { job.finish(writer.run(job)) }
    }

    /// Takes the writer lock; while that blocks, callers that have waited too long give up.
    private func lock(_ writer: Writer) throws(AlertError) {
        if try writer.tryLock() { return }
        watchWaiting(true)
        defer { watchWaiting(false) }
        try writer.lock()
    }

    /// Begins a transaction, which also excludes programs that write without our lock.
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

    /// Takes waiting writes into a transaction whose first members have run.
    private func takeLater(into batch: inout Batch) -> [WriteJob] {
        let end = batch.end ?? ContinuousClock.now + Self.joiningTime
        batch.end = end
        return ContinuousClock.now < end ? take(into: &batch) : []
    }

    /// Takes waiting writes into a transaction, deferred ones first. Once it has members, deferred
    /// writes are taken only along with a caller's.
    private func take(into batch: inout Batch) -> [WriteJob] {
        state.withLock { state in
            let waiting = Array(state.waiting.prefix(Self.maximumBatch - batch.callers))
            if waiting.isEmpty, !batch.isEmpty { return [] }
            let preceding = state.deferred.count
            let room = Self.maximumBatch - batch.deferred.count
            let deferred = Array(state.deferred.prefix(min(preceding, room)))
            // Nobody who joins overtakes deferred writes for which there is no room.
            let callers = deferred.count < preceding && !batch.isEmpty ? [] : waiting
            state.deferred.removeFirst(deferred.count)
            state.waiting.removeFirst(callers.count)
            batch.deferred += deferred
            batch.callers += callers.count
            return deferred + callers
        }
    }

    private func keep(_ deferred: [WriteJob]) {
        let isLost = changeDeferred { state in
            guard !state.isClosing else { return !deferred.isEmpty }
            state.deferred = deferred + state.deferred
            state.deferredDue = ContinuousClock.now + Self.deferralPause
            return false
        }
        if isLost { reportLossAtClosing() }
    }

    private func failWaiting(with error: AlertError) {
        let (failed, isLoss) = state.withLock { state in
            defer { state.waiting.removeAll() }
            state.deferredDue = ContinuousClock.now + Self.deferralPause
            guard state.isClosing else { return (state.waiting, false) }
            defer { state.deferred.removeAll() }
            return (state.waiting, !state.deferred.isEmpty)
        }
        for job in failed { job.finish(error) }
        if isLoss { reportLossAtClosing() }
    }

    private func reportLossAtClosing() {
        onTrouble(Self.loss("entries", "when the queue was closed"))
    }

    /// Schedules checks of the waiting callers ten times a second while the thread is blocked.
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
            let (isEnding, isHopeless) = self.shutdownWait.withLock { wait in
                (wait != nil, wait?.isHopeless() ?? false)
            }
            let isRewriting = WriterLock.isHolderRewriting(path: self.lockFile)
            let (late, closed, goesOn) = self.state.withLock { state in
                guard state.isBlocked else {
                    state.isWatched = false
                    return ([WriteJob](), [@Sendable () -> Void](), false)
                }
                let now = ContinuousClock.now
                if isRewriting { state.noteRewriting(now, busyTime: self.busyTime) }
                // A question that is not stored need not be withdrawn.
                let isLate = { [state] (job: WriteJob) in
                    isHopeless || (isEnding && job.kind == .ask)
                        || state.hasWaited(job, now, isRewriting, busyTime: self.busyTime)
                }
                let late = state.waiting.filter(isLate)
                state.waiting.removeAll(where: isLate)
                guard let closeLimit = state.closeLimit, closeLimit <= now || isHopeless else {
                    return (late, [], true)
                }
                defer { state.onClosed.removeAll() }
                return (late, state.onClosed, true)
            }
            if !late.isEmpty {
                let waited =
                    isHopeless || isEnding
                    ? .zero : isRewriting ? Self.rewritingTime : self.busyTime
                let error = AlertError.locked(
                    after: waited, lockFile: self.lockFile, isRewriting: isRewriting)
                for job in late { job.finish(error) }
            }
            for closed in closed { closed() }
            if goesOn { self.scheduleWatch() } else { self.shutdownWait.withLock { $0?.end() } }
        }
    }
}

extension GroupCommit.State {
    /// Records that another process is rewriting the database: that time does not count, and a
    /// close that has something to write waits for the end of it.
    fileprivate mutating func noteRewriting(
        _ now: ContinuousClock.Instant, busyTime: Duration
    ) {
        lastRewriting = now
        if let limit = closeLimit, !(waiting.isEmpty && deferred.isEmpty) {
            closeLimit = max(limit, now + busyTime)
        }
    }

    /// Whether a job has waited for another process's lock for too long.
    fileprivate func hasWaited(
        _ job: WriteJob, _ now: ContinuousClock.Instant, _ isRewriting: Bool, busyTime: Duration
    ) -> Bool {
        // A person's choice stays marked on the screen until it is stored.
        if isRewriting {
            return job.kind != .answer && job.enqueued + GroupCommit.rewritingTime <= now
        }
        return max(job.enqueued, lastRewriting ?? job.enqueued) + busyTime <= now
    }
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .milliseconds(Int(milliseconds)) }
}

/// Decides how long a process that was asked to end waits for the writer lock.
///
/// A lock that passes from one process to the next is worth waiting for, no matter how many
/// processes there are: on a busy machine dozens may withdraw their alerts at once. A lock that one
/// process keeps holding is not, least of all if that process is stopped or writes nothing.
struct ShutdownWait {
    /// How many consecutive checks, a tenth of a second apart, must find the same holder. On a busy
    /// machine a process that commits again and again may well be found by several of them, but
    /// then the files change.
    private static let looksAtStopped = 3
    private static let looksAtIdle = 6
    private static let looksAtWriting = 20

    private let files: QueueFiles
    /// The last holder; one that can't be seen counts as always the same.
    private var holder: LinuxProcess?
    /// The files as the last check found them.
    private var written: [FileChange?] = []
    /// How many checks have found this holder, and how many of them have found nothing new written.
    private var looks = (all: 0, idle: 0)

    init(files: QueueFiles) {
        self.files = files
    }

    /// Checks the lock, which some caller waits for; returns whether it is useless to wait on.
    mutating func isHopeless() -> Bool {
        let seen = FileLocks(path: files.lock)?.flockHolder()
        let now = files.changes
        let isSame = seen == holder
        looks = (isSame ? looks.all + 1 : 1, isSame && now == written ? looks.idle + 1 : 1)
        (holder, written) = (seen, now)
        return looks.all >= Self.looksAtWriting
            || looks.idle >= (seen?.isStopped == true ? Self.looksAtStopped : Self.looksAtIdle)
    }

    /// Forgets earlier checks, because the wait is over.
    mutating func end() {
        looks = (0, 0)
    }
}

/// One member of a write transaction.
final class WriteJob: Sendable {
    /// The member's priority when space runs out.
    enum Kind: Sendable {
        /// A new alert: refused first.
        case ask
        /// An answer or a withdrawal: may even use the reserve.
        case answer
        /// Anything else.
        case upkeep
    }

    let kind: Kind
    /// Whether the next process can do it just as well: a closing store does not wait for it.
    let isOptional: Bool
    /// Its description, as the object of "can't".
    let operation: String
    let enqueued = ContinuousClock.now
    /// Runs in the transaction, and again if the transaction must be repeated.
    let work: @Sendable (WriteContext) throws -> Void
    /// Called with the result after the commit.
    let finish: @Sendable (AlertError?) -> Void
    /// Runs after the commit, outside of a transaction and still under the writer lock.
    let afterCommit: (@Sendable (Writer) throws -> Void)?

    init(
        kind: Kind, isOptional: Bool = false, operation: String,
        work: @escaping @Sendable (WriteContext) throws -> Void,
        finish: @escaping @Sendable (AlertError?) -> Void = { _ in },
        afterCommit: (@Sendable (Writer) throws -> Void)? = nil
    ) {
        self.kind = kind
        self.isOptional = isOptional
        self.operation = operation
        self.work = work
        self.finish = finish
        self.afterCommit = afterCommit
    }
}

/// A box in which the writer's thread leaves a result for a task.
final class ResultBox<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    /// Leaves a result, instead of that of an earlier attempt: a transaction may be repeated.
    func put(_ value: Value) { content.withLock { $0 = value } }

    /// The last result.
    var value: Value? { content.withLock { $0 } }
}

/// A thread outside of all pools, for code that blocks.
enum DedicatedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread; see pthread_create(3).
    static func run(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context)
        guard code == 0 else {
            // No thread could be created: a pool's thread is better than none.
            Unmanaged<Body>.fromOpaque(context).release()
            DispatchQueue.global().async(execute: body)
            return
        }
    }
}
