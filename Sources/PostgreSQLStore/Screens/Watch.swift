import AlertCore
import PostgreSQL
import Synchronization

/// Watches a queue for changes by other processes: the server tells of them, and each second it is
/// asked.
final class Watch: Sendable {
    fileprivate struct State {
        var looks: Task<Void, Never>?
        /// Lets those who wait look again each second, also while the server doesn't answer.
        var ticks: Task<Void, Never>?
        var isStopped = false
        var outbox = Outbox()
        /// Sends what is in the outbox.
        var sending: Task<Void, Never>?
    }

    fileprivate let state = Mutex(State())
    private let sessions: Sessions
    private let listener: Listener
    private let known: KnownHead
    private let onChange: @Sendable () -> Void
    private let onScreens: @Sendable () -> Void
    private let onTick: @Sendable () -> Void
    /// Whether the server tells of changes.
    fileprivate let notifies: Bool
    /// Sends a notification.
    fileprivate let send: @Sendable (Set<String>) async -> Void

    init(
        _ sessions: Sessions, at location: PostgreSQLLocation, known: KnownHead,
        interruption: Interruption, send: @escaping @Sendable (Set<String>) async -> Void,
        onChange: @escaping @Sendable () -> Void, onScreens: @escaping @Sendable () -> Void,
        onTick: @escaping @Sendable () -> Void
    ) {
        notifies = location.notifies
        self.sessions = sessions
        listener = Listener(interruption)
        self.known = known
        self.send = send
        self.onChange = onChange
        self.onScreens = onScreens
        self.onTick = onTick
    }

    /// Begins to watch; returns whether it had not begun.
    ///
    /// - Parameter onStep: Called if the server's clock was set.
    @discardableResult
    func start(onStep: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard state.looks == nil, !state.isStopped else { return false }
            sessions.startWaiting()
            state.ticks = Task { [onTick] in
                while (try? await Task.sleep(for: .seconds(1))) != nil { onTick() }
            }
            state.looks = Task { [weak self] in
                var end = ContinuousClock.now + .seconds(1)
                while !Task.isCancelled {
                    guard let self else { return }
                    if await self.look(until: end, onStep) { end = .now + .seconds(1) }
                }
            }
            return true
        }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.looks?.cancel()
            state.ticks?.cancel()
        }
        if sessions.isWaiting { sessions.waiting.wake() }
    }

    /// Waits for changes until a moment; returns `false` if somebody else wants the connection.
    private func look(
        until end: ContinuousClock.Instant, _ onStep: @Sendable () async -> Void
    ) async -> Bool {
        if !notifies { try? await Task.sleep(until: end) }
        let found = await sessions.waiting.wait { [listener] session, bell in
            Result { () throws(AlertError) in try listener.wait(on: session, until: end, or: bell) }
        }
        switch found {
        case .success(let heard?):
            if known.raise(to: heard.head, changes: heard.changes) { onChange() }
            if heard.told.contains(Listener.screens) { onScreens() }
            if !heard.isSteady { await onStep() }
        case .success(nil): return false
        case .failure:
            // It is tried again, and readers find out by themselves.
            try? await Task.sleep(for: .milliseconds(200))
        }
        return true
    }

    /// Tells other processes that the queue has changed.
    func notify() { tell(Listener.queue) }

    /// Tells other processes that the screens have changed.
    func notifyOfScreens() { tell(Listener.screens) }

    private func tell(_ what: String) {
        guard notifies else { return }
        state.withLock { state in
            let isFirst = state.outbox.add(what)
            // At the end they are sent all at once.
            guard isFirst, !state.isStopped else { return }
            state.sending = Task { [weak self] in await self?.sendNotifications() }
        }
    }

    private func sendNotifications() async {
        while true {
            switch state.withLock({ $0.outbox.next(at: .now) }) {
            case .send(let news): await send(news)
            case .wait(let end): try? await Task.sleep(until: end)
            case .end: return
            }
        }
    }
}

extension Watch {
    /// Tells what was not told yet, without a pause, and waits for what is being sent.
    nonisolated(nonsending) func flush() async {
        let (news, sending) = state.withLock { ($0.outbox.takeAll(), $0.sending) }
        // It pauses no longer.
        sending?.cancel()
        await sending?.value
        if !news.isEmpty { await send(news) }
    }
}

/// What other processes are to be told, and when: at once if they were told seldom, and otherwise
/// all that comes within a pause together.
///
/// The server has one lock for notifications, so they are ten a second in the long run.
struct Outbox {
    static let pause = Duration.milliseconds(100)
    /// How many are sent without a pause after a quiet time: an alert that appears and is answered
    /// at once takes three.
    static let burst = 3

    enum Step: Equatable {
        case send(Set<String>)
        case wait(until: ContinuousClock.Instant)
        /// There is no more; the next to ``add(_:)`` something begins anew.
        case end
    }

    private var waiting: Set<String> = []
    private var isSending = false
    /// When what was sent has taken its time: each notification takes a pause.
    private var free: ContinuousClock.Instant?

    /// Returns whether nobody sends yet what was added.
    mutating func add(_ what: String) -> Bool {
        waiting.insert(what)
        defer { isSending = true }
        return !isSending
    }

    mutating func next(at now: ContinuousClock.Instant) -> Step {
        if waiting.isEmpty {
            isSending = false
            return .end
        }
        let ahead = now + Self.pause * (Self.burst - 1)
        let start = max(free ?? now, now)
        if start > ahead { return .wait(until: now + (start - ahead)) }
        free = start + Self.pause
        return .send(takeAll())
    }

    mutating func takeAll() -> Set<String> {
        defer { waiting = [] }
        return waiting
    }
}

/// What waits for notifications on a connection, whenever nobody else wants that.
final class Listener: Sendable {
    /// What is told: that the queue has changed, or the screens.
    static let queue = "queue"
    static let screens = "screens"

    /// An expression for the channel of the queue whose name is `$1`.
    static let channel = """
        'alertq_' || left(md5(current_database() || '/alertq/' || $1), 16)
        """

    struct Heard: Sendable {
        /// The end of the log by then, and how often something has changed without an entry.
        let head: AuditHead
        let changes: Int64
        let told: Set<String>
        /// Whether the server's clock goes on as before.
        let isSteady: Bool
    }

    private let interruption: Interruption

    init(_ interruption: Interruption) { self.interruption = interruption }

    /// Waits until something is told or a moment has come; returns `nil` if the bell rings first.
    func wait(
        on session: Session, until end: ContinuousClock.Instant, or bell: Bell
    ) throws(AlertError) -> Heard? {
        do {
            session.use(interruption)
            let db = try session.open()
            db.timeLimit = Session.openingTime
            var told: Set<String> = []
            if session.listens {
                var limit = end - .now
                while let found = try db.nextNotification(within: max(limit, .zero), bell: bell) {
                    told.insert(found.payload)
                    limit = .zero
                }
                if told.isEmpty, end > .now { return nil }
            } else {
                // Whatever happened before counts as told.
                told = [Self.queue, Self.screens]
                if let name = try channel(on: db, of: session) {
                    try db.execute("LISTEN \(name)")
                    session.listens = true
                }
            }
            let start = session.clock.bootMilliseconds
            let found = try ServerTables(db, session.queue).head()
            let isSteady = session.clock.note(
                found.time, offset: found.offset, askedAt: start)
            return Heard(
                head: found.head, changes: found.changes, told: told, isSteady: isSteady)
        } catch {
            if let error = error as? PostgreSQLError, error.isConnectionLost { session.drop() }
            throw translated(error, "watch the queue", at: session.location)
        }
    }

    private func channel(on db: Connection, of session: Session) throws -> String? {
        guard session.location.notifies else { return nil }
        return try db.first("SELECT \(Self.channel)", .text(session.location.queue)) {
            $0.optionalText()
        } ?? nil
    }
}
