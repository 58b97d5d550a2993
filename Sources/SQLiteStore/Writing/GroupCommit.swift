import AlertCore
import AlertTables
import Dispatch
import Glibc
import Linux
import SQLite
import Synchronization

/// Runs the transactions of what waits to be written to a file, on a thread of its own: taking the
/// writer lock blocks, and so does the disk, and tasks have few threads.
///
/// A transaction takes the writes that wait, runs them, and looks again until no more have come,
/// because the callers of one commit return at about the same time. Writes that come during its
/// commit share the next one.
final class GroupCommit: Sendable {
    /// How long a caller waits for its transaction to begin, unless set otherwise.
    static let busyTime = Duration.seconds(5)
    /// How long it waits for a process that rewrites the database, as a purge does at its end.
    static let rewritingTime = Duration.seconds(120)
    /// The maximum number of writes that share a transaction; later ones wait for the next.
    static let maximumBatch = 1000
    /// For how long others may join a transaction whose first members have run.
    static let joiningTime = Duration.milliseconds(10)
    /// How often the patience of waiting callers is checked while a lock blocks the thread.
    private static let patienceCheck = DispatchTimeInterval.milliseconds(100)

    typealias Closer = CheckedContinuation<Void, Never>

    private struct State {
        /// Whether a lock blocks the thread.
        var isBlocked = false
        var patience: LockPatience
        /// The callers that wait for the thread to end, and since when.
        var closers: [Closer] = []
        var closing: ContinuousClock.Instant?
        var hasEnded = false
    }

    let writes: WriteQueue
    private let state: Mutex<State>
    private let files: QueueFiles
    private let busyTime: Duration
    private let wakeUp: DispatchSemaphore
    private let onCommit: @Sendable (_ concernsOthers: Bool) -> Void
    private let ring: @Sendable () -> Void

    /// - Parameters:
    ///   - onTrouble: Called when posted jobs are lost.
    ///   - onCommit: Called on the writer's thread after each commit, before waiting callers
    ///     continue.
    ///   - ring: Called afterwards, for other processes.
    init(
        files: QueueFiles, busyTime: Duration = GroupCommit.busyTime,
        onTrouble: @escaping @Sendable (AlertError) -> Void = { _ in },
        onCommit: @escaping @Sendable (_ concernsOthers: Bool) -> Void = { _ in },
        ring: @escaping @Sendable () -> Void = {}
    ) {
        writes = WriteQueue(onTrouble: onTrouble)
        state = Mutex(State(patience: LockPatience(files: files, busyTime: busyTime)))
        self.files = files
        self.busyTime = busyTime
        self.onCommit = onCommit
        self.ring = ring
        let wakeUp = DispatchSemaphore(value: 0)
        self.wakeUp = wakeUp
        writes.whenDue { _ in wakeUp.signal() }
    }

    /// Opens the database on the writer's thread, which runs the transactions from now on.
    ///
    /// - Throws: The errors of opening the database.
    nonisolated(nonsending) func start(
        clock: any AlertClock, known: LogTail
    ) async throws(AlertError) {
        let failure: AlertError? = await withCheckedContinuation { continuation in
            DedicatedThread.start {
                self.run(clock: clock, known: known) { continuation.resume(returning: $0) }
            }
        }
        if let failure { throw failure }
    }

    /// Refuses every write with an error, instead of starting.
    func refuse(with error: AlertError) {
        writes.refuse(with: error)
        state.withLock { $0.hasEnded = true }
    }

    /// Writes all remaining jobs, and ends the thread.
    ///
    /// While another process holds the lock, it returns after the busy time, and the thread ends
    /// later.
    nonisolated(nonsending) func close() async {
        closeSoon()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard !state.hasEnded else { return true }
                state.closing = state.closing ?? .now
                state.closers.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Ends the thread once it has written all remaining jobs, without waiting for that. From now on
    /// no more are accepted, and the optional ones are dropped.
    func closeSoon() {
        writes.refuse(with: .closed)
        wakeUp.signal()
    }

    /// Stops all jobs from waiting long for a lock that another process holds: this process is to
    /// end.
    func prepareToEnd() { state.withLock { $0.patience.prepareToEnd() } }
}

extension WriteJob {
    /// A member of a transaction of the writer.
    convenience init(
        kind: WriteKind, operation: String, isOptional: Bool = false,
        finish: @escaping Finish = { _ in },
        inTransaction body: @escaping @Sendable (WriteContext) throws -> Void
    ) {
        self.init(
            kind: kind, operation: operation, isOptional: isOptional, finish: finish,
            work: { try body(unsafeDowncast($0, to: WriteContext.self)) })
    }
}

extension WriteQueue {
    /// Runs a closure in a transaction, and returns its result once that is stored.
    ///
    /// - Parameter isOptional: Whether it is skipped if the store closes first.
    nonisolated(nonsending) func perform<Result: Sendable>(
        _ kind: WriteKind, _ operation: String, isOptional: Bool = false,
        _ body: @escaping @Sendable (WriteContext) throws -> Result
    ) async throws(AlertError) -> Result {
        try await result { box, finish in
            WriteJob(kind: kind, operation: operation, isOptional: isOptional, finish: finish) {
                (context: WriteContext) in box.put(try body(context))
            }
        }
    }

    /// Schedules a closure for the next transaction, or soon for one of its own, and doesn't wait.
    func post(
        _ operation: String, _ body: @escaping @Sendable (WriteContext) throws -> Void
    ) {
        post(operation, work: { try body(unsafeDowncast($0, to: WriteContext.self)) })
    }

    /// Runs a closure under the writer lock, but not in a transaction.
    ///
    /// - Throws: The closure's error; ``AlertError/busy(_:)`` if the lock could not be taken within
    ///   the busy time.
    nonisolated(nonsending) func performAlone<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Writer) throws -> Result
    ) async throws(AlertError) -> Result {
        try await result { box, finish in
            WriteJob(
                kind: .upkeep, operation: operation, finish: finish,
                afterCommit: { box.put(try body(unsafeDowncast($0, to: Writer.self))) },
                work: { _ in })
        }
    }
}

extension AlertError {
    /// The error when another process has held the queue's lock for too long; a time under a second
    /// is not mentioned.
    static func locked(
        after time: Duration, holder: LinuxProcess?, isRewriting: Bool = false
    ) -> AlertError {
        let seconds = time.components.seconds
        // This process itself holds the lock if the one that it waits for can't be seen.
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
    private func run(clock: any AlertClock, known: LogTail, started: (AlertError?) -> Void) {
        let writer = Writer(files: files, clock: clock, known: known, busyTime: busyTime)
        do throws(AlertError) {
            try writer.open()
        } catch {
            refuse(with: error)
            return started(error)
        }
        started(nil)
        while waitForWork() { runTransaction(with: writer) }
        writer.close(within: state.withLock { $0.patience.isEnding } ? .zero : .seconds(1))
        let closers = state.withLock { state in
            state.hasEnded = true
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Waits until there is something to write; `false` once everything is written and closed.
    private func waitForWork() -> Bool {
        // What comes right after a transaction is mostly posted: nobody has to wake this thread for
        // it.
        let look = ContinuousClock.now + WriteQueue.postedTime
        while true {
            let coming = look > .now ? look : nil
            let (due, isClosing) = writes.nextDue(lookingAgainAt: coming)
            if due == nil, isClosing { return false }
            guard let moment = due ?? coming else {
                wakeUp.wait()
                continue
            }
            let rest = moment - .now
            if due != nil, rest <= .zero { return true }
            _ = wakeUp.wait(timeout: .now() + .microseconds(Int(rest / .microseconds(1)) + 1))
        }
    }

    private func runTransaction(with writer: Writer) {
        do throws(AlertError) {
            try begin(writer)
        } catch {
            return writes.fail(writes.take { _ in true }.map { ($0, error) })
        }
        defer { writer.lock.release() }
        var room = Self.maximumBatch
        let first = take(&room)
        // Those that waited have given up.
        guard !first.isEmpty else { return writer.rollBack() }
        var end: ContinuousClock.Instant?
        let outcome = writer.commit(first) {
            let limit = end ?? .now + Self.joiningTime
            end = limit
            return .now < limit ? take(&room) : []
        }
        if outcome.isCommitted { onCommit(outcome.concernsOthers) }
        var alone: [WriteJob] = []
        for member in outcome.members where !member.mayRepeat {
            if member.error == nil, member.job.afterCommit != nil {
                alone.append(member.job)
            } else {
                member.job.finish(member.error)
            }
        }
        // Callers that waited here continue while other processes are notified.
        if outcome.isCommitted { ring() }
        writes.fail(outcome.members.filter(\.mayRepeat).map { ($0.job, $0.error) })
        writer.checkpointIfDue()
        if outcome.isCommitted, outcome.members.contains(where: { $0.job.kind == .answer }) {
            writer.mayHaveNewTexts = true
            writer.indexTexts(ifAtLeast: Writer.manyUnindexed)
        }
        for job in alone { job.finish(writer.runOutside(job)) }
    }

    /// Takes the writer lock and begins a transaction, which also excludes programs that write
    /// without our lock. While one of the two blocks, callers that have waited too long give up.
    private func begin(_ writer: Writer) throws(AlertError) {
        var timer: (any DispatchSourceTimer)?
        defer {
            timer?.cancel()
            state.withLock { state in
                state.isBlocked = false
                state.patience.endWait()
            }
        }
        while true {
            do throws(AlertError) {
                if try !writer.lock.tryAcquire() {
                    timer = timer ?? patienceTimer()
                    try writer.lock.acquire()
                }
                return try writer.begin()
            } catch {
                // Notes alone try it twice, and again later.
                guard case .busy = error, timer == nil || writes.hasCallers
                else {
                    writer.lock.release()
                    throw error
                }
                timer = timer ?? patienceTimer()
            }
        }
    }

    /// Lets callers give up while a lock blocks this thread, until it is cancelled.
    private func patienceTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + Self.patienceCheck, repeating: Self.patienceCheck)
        timer.setEventHandler { self.failLate() }
        state.withLock { $0.isBlocked = true }
        timer.resume()
        return timer
    }

    /// Takes waiting writes into a transaction that has room for some.
    private func take(_ room: inout Int) -> [WriteJob] {
        let taken = writes.take(atMost: room)
        room -= taken.count
        return taken
    }

    /// Fails the callers that have waited too long for a lock that blocks the thread, and resumes
    /// the one that closes.
    private func failLate() {
        let seen = LockPatience.Look(files)
        let (late, closers, patience) = state.withLock { state in
            guard state.isBlocked else {
                return ([WriteJob](), [Closer](), state.patience)
            }
            state.patience.note(seen)
            let patience = state.patience
            let late = writes.take {
                $0.kind != .posted && patience.isOver(for: $0.kind, since: $0.enqueued)
            }
            var closers: [Closer] = []
            // With nothing to write, there is no need to wait for the holder of the lock.
            if let closing = state.closing,
                writes.isEmpty || patience.isOver(for: .answer, since: closing)
            {
                swap(&closers, &state.closers)
            }
            return (late, closers, patience)
        }
        let error = late.isEmpty ? nil : patience.error
        for job in late { job.finish(error) }
        for closer in closers { closer.resume() }
    }
}

/// How long callers wait while another process holds the writer lock.
///
/// A lock that passes from one process to the next is worth waiting for even at the end of this
/// process, no matter how many processes there are: on a busy machine dozens may withdraw their
/// alerts at once. A lock that one process keeps holding is not, least of all if that process
/// writes nothing.
struct LockPatience {
    /// How many consecutive checks, a tenth of a second apart, must find the same holder for the
    /// end not to wait for it. On a busy machine a process that commits again and again may well be
    /// found by several of them, but then the files change.
    private static let looksAtIdle = 6
    private static let looksAtWriting = 20

    private let files: QueueFiles
    private let busyTime: Duration
    /// Whether this process is about to end.
    private(set) var isEnding = false
    private var isRewriting = false
    /// When another process was last seen to rewrite the database.
    private var lastRewriting: ContinuousClock.Instant?
    private var last: Look?
    /// How many checks have found this holder, and how many of them have found nothing new written.
    private var looks = (all: 0, idle: 0)

    init(files: QueueFiles, busyTime: Duration) {
        self.files = files
        self.busyTime = busyTime
    }

    mutating func prepareToEnd() {
        if !isEnding { endWait() }
        isEnding = true
    }

    /// What a check finds of the lock, which some caller waits for.
    struct Look {
        /// Whether the holder rewrites the database.
        let isRewriting: Bool
        /// The holder; one that can't be seen counts as always the same.
        let holder: LinuxProcess?
        let files: [FileChange?]

        init(_ files: QueueFiles) {
            isRewriting = WriterLock.isHolderRewriting(path: files.lock)
            holder = FileLocks(path: files.lock)?.flockHolder()
            self.files = files.changes
        }
    }

    mutating func note(_ seen: Look) {
        isRewriting = seen.isRewriting
        if isRewriting { lastRewriting = .now }
        let isSame = seen.holder == last?.holder
        let isIdle = isSame && seen.files == last?.files
        looks = (isSame ? looks.all + 1 : 1, isIdle ? looks.idle + 1 : 1)
        last = seen
    }

    /// Forgets which holder the checks have found, because the wait is over.
    mutating func endWait() { looks = (0, 0) }

    /// Whether a kind of write has waited for too long.
    func isOver(for kind: WriteKind, since start: ContinuousClock.Instant) -> Bool {
        if isEnding {
            // A question that is not stored need not be withdrawn.
            let isHopeless =
                looks.all >= Self.looksAtWriting || looks.idle >= Self.looksAtIdle
            if isHopeless || kind == .ask { return true }
        }
        if isRewriting {
            // A person's choice stays marked on the screen until it is stored.
            return kind != .answer && kind != .expiry && start + GroupCommit.rewritingTime <= .now
        }
        return max(start, lastRewriting ?? start) + busyTime <= .now
    }

    /// The error of one that has.
    var error: AlertError {
        let waited = isEnding ? .zero : isRewriting ? GroupCommit.rewritingTime : busyTime
        return .locked(after: waited, holder: files.writer, isRewriting: isRewriting)
    }
}
