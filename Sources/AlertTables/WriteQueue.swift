import AlertCore
import Synchronization

/// The writes of a process that wait for a transaction.
///
/// One transaction takes all that wait, so that one sync or one reply of a server serves all of
/// them; those that come while it is stored share the next one. There is no delay window but for
/// what nobody waits for.
///
/// Its engine runs the transactions. Each store has one, with methods that perform and post closures
/// on the context of its transactions. The queue is not generic over that context: the compiler makes
/// no copy of this code for the types of another module, and the types of the jobs would be looked up
/// at run time eighty times for each of them.
package final class WriteQueue: Sendable {
    /// How long a posted job waits for a caller's write before it is written by itself. What the
    /// log says of an alert is in order, unless another process writes within that time.
    package static let postedTime = Duration.milliseconds(10)
    /// How long posted jobs wait after a failed transaction, so that nothing spins.
    package static let postedPause = Duration.seconds(1)
    /// How many posted jobs are kept while they can't be written; the oldest is dropped for each
    /// further one, and that is reported.
    package static let maximumPosted = 10_000

    /// A job, and why nothing of it is stored, if that is so.
    package typealias EndedJob = (job: WriteJob, error: AlertError?)

    package struct State {
        /// In the order in which they came.
        package fileprivate(set) var waiting: [WriteJob] = []
        /// When waiting posted jobs are written even if no caller's write comes.
        fileprivate var postedDue = ContinuousClock.now
        /// Whether a posted job was lost since one was last written.
        fileprivate var hasLostPosted = false
        /// Whether the engine works, or has been woken: it looks again before it waits.
        fileprivate var isWorking = false
        /// When it comes by itself, if it does. A timer may be late: nobody who waits relies on it.
        fileprivate var planned: ContinuousClock.Instant?
        /// Why nothing more is accepted; `nil` until the store closes.
        fileprivate var refusal: AlertError?
        fileprivate var wake: (@Sendable (ContinuousClock.Instant) -> Void)?
    }

    package let state = Mutex(State())
    private let onTrouble: @Sendable (AlertError) -> Void

    /// - Parameter onTrouble: Called when posted jobs are lost.
    package init(onTrouble: @escaping @Sendable (AlertError) -> Void = { _ in }) {
        self.onTrouble = onTrouble
    }

    /// Has the engine woken at the moment when something is to be written, unless it looks by then.
    package func whenDue(_ wake: @escaping @Sendable (ContinuousClock.Instant) -> Void) {
        state.withLock { $0.wake = wake }
    }
}

// For callers.
extension WriteQueue {
    /// Submits a job that leaves its result in a box, and returns that once the job is done.
    ///
    /// - Throws: The job's error, in which case nothing of it is stored;
    ///   ``AlertError/busy(_:)`` if the transaction could not begin within the busy time.
    package nonisolated(nonsending) func result<Result: Sendable>(
        of makeJob: (ResultBox<Result>, @escaping WriteJob.Finish) -> WriteJob
    ) async throws(AlertError) -> Result {
        let box = ResultBox<Result>()
        let failure = await withCheckedContinuation { continuation in
            submit(makeJob(box) { continuation.resume(returning: $0) })
        }
        if let failure { throw failure }
        guard let result = box.value else { throw .closed }
        return result
    }

    /// Schedules work for the next transaction, or soon for one of its own, and doesn't wait.
    package func post(
        _ operation: String, reading: @escaping WriteJob.Reading = { _ in [] },
        work: @escaping WriteJob.Work
    ) {
        submit(
            WriteJob(
                kind: .posted, operation: operation, reading: reading,
                finish: { [weak self] in self?.postedEnded(operation, $0) }, work: work))
    }

    /// Leaves a job to the engine, and drops the oldest of too many posted ones.
    private func submit(_ job: WriteJob) {
        let (refused, wake) = state.withLock { state -> (EndedJob?, (() -> Void)?) in
            if let refusal = state.refusal { return ((job, refusal), nil) }
            if job.kind == .posted, !state.waiting.contains(where: { $0.kind == .posted }) {
                state.postedDue = .now + Self.postedTime
            }
            state.waiting.append(job)
            let excess = state.takeExcessPosted().map { note -> EndedJob in
                (note, .busy("the oldest of more than \(Self.maximumPosted) entries were dropped"))
            }
            return (excess, state.waking())
        }
        if let refused { refused.job.finish(refused.error) }
        wake?()
    }

    /// Reports that a posted job is lost, unless that has been reported since one was last written.
    private func postedEnded(_ operation: String, _ error: AlertError?) {
        let isFirst = state.withLock { state in
            defer { state.hasLostPosted = error != nil }
            return !state.hasLostPosted
        }
        guard let error, isFirst else { return }
        // Nothing is promised for what is posted after the end.
        if case .closed = error { return }
        onTrouble(.storage(operation: operation, "\(error)"))
    }

    /// Refuses what comes from now on, with the first such error, and drops what is optional.
    package func refuse(with error: AlertError) {
        let dropped = state.withLock { state in
            state.refusal = state.refusal ?? error
            return state.take(where: \.isOptional)
        }
        for job in dropped { job.finish(error) }
    }
}

// For the engine.
extension WriteQueue {
    /// When the next transaction is to begin, for which the engine is not woken; `nil` if there is
    /// nothing to write. And whether nothing more will come.
    ///
    /// - Parameter look: When the engine looks again even if there is nothing to write.
    package func nextDue(
        lookingAgainAt look: ContinuousClock.Instant?
    ) -> (due: ContinuousClock.Instant?, isClosed: Bool) {
        state.withLock { state in
            let due = state.due
            state.isWorking = due.map { $0 <= .now } ?? false
            state.planned = due ?? look
            return (due, state.refusal != nil)
        }
    }

    package var isClosed: Bool { state.withLock { $0.refusal != nil } }

    package var isEmpty: Bool { state.withLock(\.waiting.isEmpty) }

    /// Whether a caller waits.
    package var hasCallers: Bool { state.withLock(\.hasCallers) }

    /// Takes the first jobs that wait.
    package func take(atMost count: Int) -> [WriteJob] { state.withLock { $0.take(count) } }

    /// Takes the first jobs if something is to be written now; otherwise the engine is woken when
    /// something will be.
    package func takeDue(atMost count: Int) -> [WriteJob] {
        let (jobs, wake) = state.withLock { state -> ([WriteJob], (() -> Void)?) in
            state.isWorking = state.due.map { $0 <= .now } ?? false
            if state.isWorking { return (state.take(count), nil) }
            state.planned = nil
            return ([], state.waking())
        }
        wake?()
        return jobs
    }

    /// Takes the jobs that fulfil a condition.
    package func take(where isTaken: (WriteJob) -> Bool) -> [WriteJob] {
        state.withLock { $0.take(where: isTaken) }
    }

    /// Ends jobs of which nothing is stored. Posted ones are tried again after a while, unless the
    /// store closes.
    package func fail(_ jobs: [EndedJob]) {
        if jobs.isEmpty { return }
        let ended = state.withLock { state in
            if state.refusal != nil { return jobs }
            let posted = jobs.map(\.job).filter { $0.kind == .posted }
            state.waiting.insert(contentsOf: posted, at: 0)
            state.postedDue = .now + Self.postedPause
            return jobs.filter { $0.job.kind != .posted }
        }
        for (job, error) in ended { job.finish(error) }
    }
}

extension WriteQueue.State {
    fileprivate var hasCallers: Bool { waiting.contains { $0.kind != .posted } }

    /// When the next transaction is to begin; `nil` if there is nothing to write.
    fileprivate var due: ContinuousClock.Instant? {
        if waiting.isEmpty { return nil }
        return refusal != nil || hasCallers ? .now : postedDue
    }

    /// What wakes the engine; `nil` if it looks in time, or has nothing to do.
    fileprivate mutating func waking() -> (() -> Void)? {
        guard let wake, let due, !isWorking else { return nil }
        let now = ContinuousClock.now
        isWorking = due <= now
        let looks = planned.map { now < $0 && $0 <= due } ?? false
        guard isWorking || !looks else { return nil }
        planned = due
        return { wake(due) }
    }

    fileprivate mutating func take(_ count: Int) -> [WriteJob] {
        defer { waiting.removeFirst(min(count, waiting.count)) }
        return Array(waiting.prefix(count))
    }

    fileprivate mutating func take(where isTaken: (WriteJob) -> Bool) -> [WriteJob] {
        defer { waiting.removeAll(where: isTaken) }
        return waiting.filter(isTaken)
    }

    /// Removes the oldest posted job and returns it, if there are too many.
    fileprivate mutating func takeExcessPosted() -> WriteJob? {
        // They are only counted when there may be too many.
        guard waiting.count > WriteQueue.maximumPosted,
            waiting.count(where: { $0.kind == .posted }) > WriteQueue.maximumPosted,
            let oldest = waiting.firstIndex(where: { $0.kind == .posted })
        else { return nil }
        return waiting.remove(at: oldest)
    }
}
