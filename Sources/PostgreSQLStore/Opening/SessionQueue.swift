import AlertCore
import Dispatch
import PostgreSQL
import Synchronization

/// A session on a serial queue of its own, which waits for the server there.
///
/// A waiting session can also listen: it then stops for everybody who wants to use it.
final class SessionQueue: Sendable {
    private let executor: DispatchQueue
    /// Used on the executor, which holds the lock for as long as it works.
    private let session: Mutex<Session>
    /// How many wait for the session.
    private let waiting = Mutex(0)
    /// Rings for as long as some do.
    private let bell: Bell

    init(_ session: sending Session, _ bell: Bell, label: String) {
        executor = DispatchQueue(label: label)
        self.session = Mutex(session)
        self.bell = bell
    }

    /// A queue for a session that was taken from another one.
    convenience init?(_ box: SessionBox, _ bell: Bell, label: String) {
        guard let session = box.take() else { return nil }
        self.init(session, bell, label: label)
    }

    /// Runs a closure on the queue.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (Session) throws(AlertError) -> Result
    ) async throws(AlertError) -> Result {
        let result: Swift.Result<Result, AlertError> = await withCheckedContinuation { next in
            async { session in
                let result: Swift.Result<Result, AlertError>
                do throws(AlertError) { result = .success(try body(session)) } catch {
                    result = .failure(error)
                }
                next.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// Has a closure run on the queue, and doesn't wait for that.
    ///
    /// - Parameter time: After how long it is queued; `nil` for at once.
    func async(
        after time: Duration? = nil, _ body: @escaping @Sendable (Session) -> Void
    ) {
        if let time {
            let wait = DispatchTimeInterval.microseconds(Int(time / .microseconds(1)) + 1)
            executor.asyncAfter(deadline: .now() + wait) { self.async(body) }
            return
        }
        waiting.withLock { count in
            count += 1
            if count == 1 { bell.ring() }
        }
        executor.async { [self] in
            waiting.withLock { count in
                count -= 1
                if count == 0 { bell.silence() }
            }
            session.withLock { body($0) }
        }
    }

    /// Runs a closure that is to end when the bell rings: somebody wants the session.
    func wait<Result: Sendable>(
        _ body: @escaping @Sendable (Session, Bell) -> Result
    ) async -> Result {
        await withCheckedContinuation { next in
            executor.async { [self] in
                next.resume(returning: session.withLock { body($0, bell) })
            }
        }
    }

    /// Ends a wait.
    func wake() { async { _ in } }

    /// Takes the session with its connection, and leaves another one that has none.
    func exchange(for other: @escaping @Sendable () -> Session) async -> SessionBox {
        await withCheckedContinuation { next in
            executor.async { [self] in
                next.resume(
                    returning: SessionBox(
                        session.withLock { session in
                            let former = session
                            session = other()
                            return former
                        }))
            }
        }
    }

    /// Gives back a session, whose connection is of use if there is no other one.
    func put(_ box: SessionBox) async {
        await withCheckedContinuation { next in
            executor.async { [self] in
                session.withLock { session in
                    if !session.isOpen, let former = box.take() { session = former }
                }
                next.resume()
            }
        }
    }
}

/// A session on its way from one queue to another.
final class SessionBox: Sendable {
    private let session: Mutex<Session?>

    init(_ session: sending Session) { self.session = Mutex(session) }

    func take() -> sending Session? {
        session.withLock { session in
            let taken = session
            session = nil
            return taken
        }
    }
}

/// The sessions of a store: one for a process that asks and goes, and another one for what waits, as
/// soon as something does.
final class Sessions: Sendable {
    /// For all that writes, and for everything else as long as nothing waits.
    let working: SessionQueue
    /// Listens, renews leases, and reads.
    let waiting: SessionQueue
    private let hasWaiting = Atomic(false)

    init(_ working: SessionQueue, _ waiting: SessionQueue) {
        (self.working, self.waiting) = (working, waiting)
    }

    /// Notes that something waits from now on.
    func startWaiting() { hasWaiting.store(true, ordering: .relaxed) }

    var isWaiting: Bool { hasWaiting.load(ordering: .relaxed) }

    /// The one for what is not a write of a caller.
    var current: SessionQueue { isWaiting ? waiting : working }
}
