import AlertCore
import CLinux
import Dispatch
import Glibc

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
        var pace = Pace()
        while waitForWork(&pace) {
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
    private func waitForWork(_ pace: inout Pace) -> Bool {
        let start = ContinuousClock.now
        defer { pace.note(ContinuousClock.now - start) }
        while true {
            hasNews.store(false, ordering: .relaxed)
            let isAwake = pace.isAwake(since: start)
            switch nextStep(sleeps: !isAwake) {
            case .work: return true
            case .end: return false
            case .sleep where isAwake: waitAwake { pace.isAwake(since: start) }
            case .sleep(nil): wakeUp.wait()
            case .sleep(let end?):
                let rest = end - ContinuousClock.now
                _ = wakeUp.wait(timeout: .now() + rest.dispatch)
            }
        }
    }

    private func nextStep(sleeps: Bool) -> Step {
        state.withLock { state in
            (state.isAsleep, state.wakeTime) = (false, nil)
            if !state.waiting.isEmpty { return .work }
            let due = state.deferred.isEmpty ? nil : state.deferredDue
            if state.isClosing { return due == nil ? .end : .work }
            // No other write came: the deferred writes are committed by themselves; further
            // deferred ones don't delay that.
            if let due, due <= ContinuousClock.now { return .work }
            (state.isAsleep, state.wakeTime) = (sleeps, due)
            return .sleep(until: due)
        }
    }

    /// Waits for news without sleeping, for as long as a condition is true.
    private func waitAwake(while isAwake: () -> Bool) {
        while !hasNews.load(ordering: .acquiring), isAwake() { clinux_pause() }
    }

    private func runBatch(with writer: Writer) {
        let start = ContinuousClock.now
        let isAlone: Bool
        do throws(AlertError) {
            isAlone = try lock(writer)
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
        let isSoon = ContinuousClock.now - start < Self.quickTime
        isQuick.store(isSoon && isAlone && batch.callers <= 1, ordering: .relaxed)
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
        if outcome.mustKeepDeferred { keep(batch.deferred) }
        writer.checkpointIfDue()
        for job in afterCommits { job.finish(writer.run(job)) }
    }

    /// Takes the writer lock, and returns whether no other process had it; while that blocks,
    /// callers that have waited too long give up.
    private func lock(_ writer: Writer) throws(AlertError) -> Bool {
        if try writer.tryLock() { return true }
        watchWaiting(true)
        defer { watchWaiting(false) }
        try writer.lock()
        return false
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
            let preceding = state.leavesDeferred(beside: waiting) ? 0 : state.deferred.count
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
        state.withLock { state in
            guard !state.isClosing else { return }
            state.deferred = Array((deferred + state.deferred).suffix(Self.maximumDeferred))
            state.deferredDue = ContinuousClock.now + Self.deferralPause
        }
    }

    private func failWaiting(with error: AlertError) {
        isQuick.store(false, ordering: .relaxed)
        let failed = state.withLock { state in
            defer { state.waiting.removeAll() }
            if state.isClosing { state.deferred.removeAll() }
            state.deferredDue = ContinuousClock.now + Self.deferralPause
            return state.waiting
        }
        for job in failed { job.finish(error) }
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
            let (late, closed, goesOn) = self.state.withLock { state in
                guard state.isBlocked else {
                    state.isWatched = false
                    return ([WriteJob](), [@Sendable () -> Void](), false)
                }
                let now = ContinuousClock.now
                let limit = isHopeless ? now : now - self.busyTime
                // A question that is not stored need not be withdrawn.
                let isLate = { (job: WriteJob) in
                    job.enqueued <= limit || (isEnding && job.kind == .ask)
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
                let waited = isHopeless || isEnding ? .zero : self.busyTime
                let error = AlertError.locked(after: waited, lockFile: self.lockFile)
                for job in late { job.finish(error) }
            }
            for closed in closed { closed() }
            if goesOn { self.scheduleWatch() } else { self.shutdownWait.withLock { $0?.end() } }
        }
    }
}

extension GroupCommit.State {
    /// Whether the deferred writes are left for a later transaction.
    fileprivate func leavesDeferred(beside batch: [WriteJob]) -> Bool {
        !batch.isEmpty && batch.allSatisfy { $0.kind == .ask }
            && deferred.allSatisfy(\.isPatient) && ContinuousClock.now < deferredDue
    }
}

/// Whether writes follow each other so quickly that the writer's thread stays awake between them:
/// waking it up takes longer than a sync on a fast disk.
///
/// For example: in a loop, the next ask comes 60 µs after a commit. The thread stays awake for the
/// following asks until none has come for 100 µs.
///
/// Gain: asks of one caller take 0.65 times as long, 0.73 times if a sync takes 30 µs, and just as
/// long if it takes 150 µs; those of 16 processes take 0.81 times as long (`alertq-bench ask
/// processes`, files in memory, `--sync-delay`; against a `staysAwake` that is never set).
private struct Pace {
    /// The maximum time that it stays awake.
    private static let awakeTime = Duration.microseconds(100)
    private var staysAwake = false

    /// Whether the thread stays awake that has waited since some time.
    func isAwake(since start: ContinuousClock.Instant) -> Bool {
        staysAwake && ContinuousClock.now - start < Self.awakeTime
    }

    /// Records how long the thread has waited.
    mutating func note(_ wait: Duration) {
        staysAwake = GroupCommit.hasOtherProcessors && wait < Self.awakeTime
    }
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .milliseconds(Int(milliseconds)) }
}
