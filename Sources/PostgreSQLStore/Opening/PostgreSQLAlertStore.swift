import AlertCore
import AlertTables
import PostgreSQL
import Synchronization

/// A queue in a PostgreSQL database, shared by any number of processes on any number of machines.
package final class PostgreSQLAlertStore: AlertStore {
    let location: PostgreSQLLocation
    let clock: ServerClock
    /// On whose behalf the store applies deadlines.
    let caller: Caller
    package let known = KnownHead()
    package let changes: NoticedChanges
    let screenChanges = ChangeSignal()
    private let writer: Writer
    var writes: WriteQueue { writer.writes }
    private let sessions: Sessions
    private let interruption: Interruption
    private let readingInterruption: Interruption
    private let leasingInterruption: Interruption
    private let watch: Watch
    let leases: Leases
    package let timekeeper: Timekeeper?
    private let overdueStart = OverdueStart()
    private let reads = Mutex(LongReads())
    /// Makes another connection for a reader.
    private let makeSession: @Sendable (Interruption) -> Session
    /// Why nothing can be written through this store; `nil` for one that was opened for writing.
    package let refusal: AlertError?
    /// How long a caller waits for a server that is away, or for transactions of others.
    let busyTime: Duration

    /// Opens a queue that exists.
    ///
    /// - Parameters:
    ///   - clock: The server's by default.
    ///   - caller: On whose behalf deadlines are applied.
    ///   - busyTime: How long a caller waits for a lock, or for a server that is away.
    ///   - askingTime: How long an asker waits for a server that is away.
    ///   - appliesDeadlines: Whether it stores expiries and ends snoozes by itself.
    ///   - isShared: Whether several programs use it, so that its own changes are news for others.
    ///   - isReadOnly: Whether every change is refused, and nothing that is due is stored.
    ///   - checksDurability: Whether a server is refused that may lose what it acknowledges.
    ///   - onTrouble: Called if they can't be stored for a longer time, and if entries of the log
    ///     had to be dropped.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a server or a schema that can't be used,
    ///   ``AlertError/missing(location:_:)``, ``AlertError/notPermitted(path:_:)``,
    ///   ``AlertError/unreachable(_:)``, ``AlertError/storage(operation:_:)``.
    package static nonisolated(nonsending) func open(
        _ location: PostgreSQLLocation, clock: ServerClock = ServerClock(),
        caller: Caller = Caller(via: "deadline"), busyTime: Duration = .seconds(5),
        askingTime: Duration = .seconds(60), appliesDeadlines: Bool = false,
        isShared: Bool = false, isReadOnly: Bool = false, checksDurability: Bool = true,
        onTrouble: @escaping @Sendable (BackgroundError) -> Void = { _ in }
    ) async throws(AlertError) -> PostgreSQLAlertStore {
        let interruptions: (reading: Interruption, leasing: Interruption, rest: Interruption)
        let bells: [Bell]
        do {
            interruptions = (try Interruption(), try Interruption(), try Interruption())
            bells = [try Bell(), try Bell()]
        } catch {
            throw translated(error, "open the queue", at: location)
        }
        let store = PostgreSQLAlertStore(
            location, clock, caller, interruptions, bells, busyTime: busyTime,
            askingTime: askingTime, isShared: isShared, checksDurability,
            refusal: isReadOnly ? .openedForReading(location.description) : nil,
            timekeeper: appliesDeadlines
                ? Timekeeper(clock: clock) { onTrouble(.deadlines($0)) } : nil,
            onTrouble: { onTrouble(.entriesLost($0)) })
        do throws(AlertError) {
            try await store.openFirst()
        } catch {
            await store.close()
            throw error
        }
        store.timekeeper?.start { [weak store] () async throws(AlertError) in
            try await store?.applyDeadlines()
        }
        return store
    }

    private init(
        _ location: PostgreSQLLocation, _ clock: ServerClock, _ caller: Caller,
        _ interruptions: (reading: Interruption, leasing: Interruption, rest: Interruption),
        _ bells: [Bell], busyTime: Duration, askingTime: Duration, isShared: Bool,
        _ checksDurability: Bool, refusal: AlertError?,
        timekeeper: Timekeeper?, onTrouble: @escaping @Sendable (AlertError) -> Void
    ) {
        self.location = location
        self.clock = clock
        self.caller = caller
        interruption = interruptions.rest
        readingInterruption = interruptions.reading
        leasingInterruption = interruptions.leasing
        self.timekeeper = timekeeper
        self.busyTime = busyTime
        self.refusal = refusal
        let (known, changes, screenChanges) = (known, NoticedChanges(), screenChanges)
        self.changes = changes
        let session = { @Sendable (interruption: Interruption) in
            Session(
                location, clock: clock, known: known, interruption: interruption,
                checksDurability: checksDurability)
        }
        makeSession = session
        let sessions = Sessions(
            SessionQueue(session(interruptions.rest), bells[0], label: "alertq.working"),
            // Leases are renewed whatever a writer waits for.
            SessionQueue(session(interruptions.leasing), bells[1], label: "alertq.waiting"))
        self.sessions = sessions
        let watch = Watch(
            sessions, at: location, known: known, interruption: interruptions.leasing
        ) { what in
            try? await sessions.current.run { session throws(AlertError) in
                session.use(interruptions.leasing, preamble: Lease.preamble)
                try session.notify(what)
            }
        } onChange: {
            changes.note()
        } onScreens: {
            screenChanges.change()
        } onTick: {
            changes.nudge()
            screenChanges.nudge()
        }
        self.watch = watch
        writer = Writer(
            sessions.working, interruption: interruptions.rest, known: known, caller: caller,
            busyTime: busyTime,
            askingTime: askingTime, isShared: isShared, onTrouble: onTrouble,
            onCommit: { concernsOthers in
                changes.note(concernsOthers)
                watch.notify()
            })
        leases = Leases(
            sessions, interruption: interruptions.leasing, host: location.ownHost,
            changes: screenChanges
        ) {
            watch.notifyOfScreens()
        }
    }

    deinit {
        timekeeper?.stop()
        watch.stop()
        Task { [leases, writer, watch] in await Self.end(leases, writer, watch) }
    }

    /// Connects, and finds out how far the log goes.
    private nonisolated(nonsending) func openFirst() async throws(AlertError) {
        let (head, changes, move) = try await read("open the queue") { tables in
            let found = try tables.db.first(
                """
                SELECT heads.seq, heads.hash, changes, moved_to
                FROM heads LEFT JOIN (\(Query.logEnd[.postgreSQL])) AS last ON true WHERE heads.queue = $1
                """, tables.queue
            ) { row in
                (
                    AuditHead(row, at: 0), row.integer(at: 2),
                    row.optionalText(at: 3).map { QueueMove(detail: $0) }
                )
            }
            guard let found else { throw Connection.noHead }
            return found
        }
        if let move, refusal == nil { throw .moved(location.description, to: move.place) }
        known.raise(to: head, changes: changes)
    }

    var hosts: HostNames { HostNames(own: location.ownHost, home: known.home ?? "") }

    package var isClosed: Bool { reads.withLock { $0.isOver } }

    package var place: String { location.description }

    package nonisolated(nonsending) func close() async {
        guard let long = reads.withLock({ $0.end() }) else { return }
        timekeeper?.stop()
        watch.stop()
        // What long readers wait for is no longer wanted; what was written and ended still is.
        for interruption in long { interruption.interrupt() }
        // A server that is away is not waited for: leases end by themselves. One that isn't answers
        // a read sooner than it would accept another connection.
        let limit = Task { [leasingInterruption, readingInterruption] in
            try await Task.sleep(for: .seconds(1))
            for interruption in [leasingInterruption, readingInterruption] {
                interruption.interrupt()
            }
        }
        await Self.end(leases, writer, watch)
        limit.cancel()
        for interruption in [leasingInterruption, readingInterruption, interruption] {
            interruption.interrupt()
        }
        for queue in [sessions.working, sessions.waiting] { try? await queue.run { $0.drop() } }
        changes.note()
        screenChanges.change()
    }

    /// Ends leases, stores what was written, and tells other processes of both.
    private static nonisolated(nonsending) func end(
        _ leases: Leases, _ writer: Writer, _ watch: Watch
    ) async {
        await leases.close()
        await writer.close()
        await watch.flush()
    }

    // MARK: Reading

    /// Reads on a connection that others use, too.
    package nonisolated(nonsending) func read<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (ServerTables) throws -> Result
    ) async throws(AlertError) -> Result {
        guard !isClosed else { throw .closed }
        let end = ContinuousClock.now + busyTime
        do throws(AlertError) {
            return try await sessions.current.run {
                [readingInterruption] session throws(AlertError) in
                session.use(readingInterruption)
                return try session.read(operation, until: end, body)
            }
        } catch {
            throw isClosed ? .closed : error
        }
    }

    /// Reads on a connection that nobody else uses, for as long as that takes: until it is done, or
    /// its task is cancelled, or the store closed.
    package nonisolated(nonsending) func readAside<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (ServerTables) throws -> Result
    ) async throws(AlertError) -> Result {
        let interruption: Interruption
        let bell: Bell
        do { (interruption, bell) = (try Interruption(), try Bell()) } catch {
            throw translated(error, operation, at: location)
        }
        guard reads.withLock({ $0.begin(interruption) }) else { throw .closed }
        defer { reads.withLock { $0.remove(interruption) } }
        // If nothing waits, others hardly need theirs meanwhile.
        let another = { @Sendable [makeSession, readingInterruption] in
            makeSession(readingInterruption)
        }
        let isLent = !sessions.isWaiting
        let label = "alertq.aside"
        let lent = isLent ? await sessions.working.exchange(for: another) : nil
        let reader =
            lent.flatMap { SessionQueue($0, bell, label: label) }
            ?? SessionQueue(another(), bell, label: label)
        let end = ContinuousClock.now + busyTime
        let result: Swift.Result<Result, AlertError> = await withTaskCancellationHandler {
            do throws(AlertError) {
                let result = try await reader.run { session throws(AlertError) in
                    session.use(interruption)
                    return try session.read(operation, until: end, takesLong: true, body)
                }
                return .success(result)
            } catch {
                return .failure(error)
            }
        } onCancel: {
            interruption.interrupt()
        }
        if isLent { await sessions.working.put(await reader.exchange(for: another)) }
        if isClosed { throw .closed }
        if case .failure(.unreachable) = result, Task.isCancelled {
            throw .cancelled("reading the queue")
        }
        return try result.get()
    }

    // MARK: Changes

    package nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        guard !isClosed else { throw .closed }
        if let refusal { throw refusal }
        guard let first = changes.first else {
            // What was posted is on disk then.
            return try await writes.perform(.upkeep, "store entries of the log") { _ in [] }
        }
        let hosts = hosts
        let (caller, keeper) = (hosts.stored(caller), hosts.stored(self.caller))
        if timekeeper?.takeFirstChange() == true { timekeeper?.lookNow() }
        let prepared = changes.map { change -> PreparedQuestion? in
            guard case .ask(let question) = change else { return nil }
            return PreparedQuestion(question, by: caller)
        }
        let names = RequestedChange.names(of: changes, request, by: caller)
        let (results, due) = try await writes.perform(
            WriteKind(of: changes), first.operation, isOfAsker: changes.contains(where: \.isOfAsker)
        ) { query in
            (epoch.map { [query.isAttached($0)] } ?? [])
                + names.compactMap { $0.map(query.request) }
                + changes.flatMap { $0.reading(query, by: caller) }
        } _: { transaction in
            if let epoch {
                let attached = transaction.query.isAttached(epoch)
                try transaction.refuseIfOver(try !transaction.hasRow(attached), names)
            }
            let results = try changes.indices.map { index in
                try transaction.tryToMake(
                    changes[index], prepared[index], named: names[index], by: caller,
                    keeper: keeper)
            }
            return (results, transaction.due)
        }
        if let due { timekeeper?.setAlarm(at: due) }
        return results.map { $0.map(hosts.shown).mapError(hosts.shown) }
    }

    package func post(_ entry: PostedEntry, by caller: Caller) {
        guard refusal == nil else { return }
        let (id, moment, caller) = (entry.alert, clock.now(), hosts.stored(caller))
        writes.post("store an entry of the log") { query in
            query.reading(id)
        } _: { transaction in
            try transaction.store(entry, at: transaction.earliest(moment), by: caller)
        }
    }

    /// Stores what is due; returns when something is due next, if anything is.
    private nonisolated(nonsending) func applyDeadlines() async throws(AlertError)
        -> ClockReading?
    {
        try await sweep()
        return try await read("look for deadlines") { [clock] in try $0.nextDue(at: clock.now()) }
    }

    /// Stores expiries and ends snoozes, for as long as some are due.
    nonisolated(nonsending) func sweep() async throws(AlertError) {
        var goesOn = refusal == nil
        while goesOn {
            let due = try await read("look for deadlines") { [clock, overdueStart] in
                try $0.due(
                    at: clock.now(), from: overdueStart, atMost: Transaction.maximumExpiries)
            }
            guard !due.isEmpty else { return }
            goesOn = try await writes.perform(.expiry, "store expiries") { query in
                due.expired.flatMap(query.reading)
            } _: { [caller = hosts.stored(caller)] transaction in
                let hasExpired = try transaction.expire(due.expired, by: caller) > 0
                let hasWoken = try due.hasSnooze && transaction.wake()
                return hasExpired || hasWoken
            }
        }
    }

    // MARK: Screens

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        guard !isClosed else { throw .closed }
        if let refusal { throw refusal }
        startWatching()
        return try await leases.attach(screen)
    }

    /// Begins to watch the server; returns whether it had not begun.
    @discardableResult
    package func startWatching() -> Bool {
        watch.start { [writes, refusal] in
            guard refusal == nil else { return }
            try? await writes.perform(.upkeep, "store that the server's clock was set") { _ in }
        }
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster {
        (try? await read("look for screens") { [leases] in try leases.roster($0) })
            ?? ScreenRoster()
    }

    package nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        guard !isClosed else { throw .closed }
        if let refusal { throw refusal }
        return try await leases.lease(id, for: purpose)
    }
}

/// The reads that take long, until no more may begin.
private struct LongReads {
    private(set) var isOver = false
    private var interruptions: [ObjectIdentifier: Interruption] = [:]

    /// Adds a read that has begun, unless no more may.
    mutating func begin(_ read: Interruption) -> Bool {
        if !isOver { interruptions[ObjectIdentifier(read)] = read }
        return !isOver
    }

    mutating func remove(_ read: Interruption) {
        interruptions[ObjectIdentifier(read)] = nil
    }

    /// Lets no more begin; returns those that have, or `nil` if that had been done.
    mutating func end() -> [Interruption]? {
        guard !isOver else { return nil }
        isOver = true
        return Array(interruptions.values)
    }
}

extension Session {
    /// How long one statement may take of what takes long: those who wait for it end it earlier.
    static let longTime = Duration.seconds(24 * 3600)

    /// Reads, or does what may be done twice. If the server is away, it tries again until a moment
    /// has come, and once at least: the server may have ended the last connection long ago.
    ///
    /// - Parameter takesLong: Whether a statement may take longer than that.
    func read<Result>(
        _ operation: String, until end: ContinuousClock.Instant, takesLong: Bool = false,
        _ body: (ServerTables) throws -> Result
    ) throws(AlertError) -> Result {
        var isRepeated = false
        let isOver = { [known] in known.isEnding || end <= .now }
        while true {
            do {
                let left = known.isEnding ? .seconds(1) : max(end - .now, .seconds(1))
                let db = try open(within: left)
                db.timeLimit = takesLong ? Self.longTime : left
                return try body(ServerTables(db, queue))
            } catch let error as PostgreSQLError
                where error.maySucceedOnAnotherConnection && (!isRepeated || !isOver())
            {
                drop()
                if isRepeated { Thread.pause(.milliseconds(50)) }
                isRepeated = true
            } catch {
                throw translated(error, operation, at: location)
            }
        }
    }
}

extension PostgreSQLError {
    fileprivate var maySucceedOnAnotherConnection: Bool {
        switch cause {
        case .timedOut, .interrupted: false
        default:
            !meaning.lasts
                && (isConnectionLost || meaning == .reconnect || meaning == .tryLater)
        }
    }
}

extension Session {
    fileprivate func notify(_ what: Set<String>) throws(AlertError) {
        try read("tell of a change", until: .now) { tables in
            for what in what {
                // Whoever missed it looks by itself.
                try tables.db.run(
                    """
                    SELECT set_config('synchronous_commit', 'off', true),
                        pg_notify(\(Listener.channel), $2)
                    """, .text(location.queue), .text(what))
            }
        }
    }
}

extension PostgreSQLAlertStore: LockWaiting {
    package var lockHolder: LockHolder? { nil }

    package func prepareToEnd() { known.prepareToEnd() }
}

extension Change {
    /// Whether the one who asked makes it, and not a person who waits for the screen.
    fileprivate var isOfAsker: Bool {
        switch self {
        case .ask, .collect, .run: true
        case .resolve, .snooze, .claim, .release, .requestCancel: false
        }
    }

    /// What a transaction reads for the change.
    fileprivate func reading(_ query: Query, by caller: Caller) -> [Statement] {
        let alert: Alert.ID
        switch self {
        case .ask(let question):
            let (principal, source) = (caller.principal, question.source)
            let one = question.alert.key.map { query.one($0, source, principal) }
            return [query.sources(principal, source)] + (one.map { [$0.row, $0.trail] } ?? [])
        case .resolve(let id, _, _), .snooze(let id, _), .claim(let id, _, _),
            .release(let id, _), .collect(let id, _), .run(let id, _), .requestCancel(let id, _):
            alert = id
        }
        return query.reading(alert)
    }
}

extension PostedEntry {
    fileprivate var alert: Alert.ID {
        switch self {
        case .presented(let record), .returned(let record, _): record.id
        case .collected(let id): id
        }
    }
}

extension Transaction {
    /// A moment that has passed, but not before the last entry.
    fileprivate func earliest(_ moment: ClockReading) -> ClockReading {
        let isInOrder =
            !moment.isAtOrAfter(now) && moment.wallMilliseconds >= lastTime
        return isInOrder ? moment : now
    }
}
