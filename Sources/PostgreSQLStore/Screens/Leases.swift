import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import Synchronization

/// How long a row proves that a process is there; all of it by the server's clock.
///
/// A lease whose time has passed is not over: others may end it, and then its row is gone. So a clock that is set forward takes nothing from a process that goes on to give
/// signs of life, unless another one comes in between; then its epoch is refused.
enum Lease {
    /// The server's clock, in milliseconds.
    static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    /// How long a lease counts after its last sign of life, in milliseconds.
    static let length = 10_000
    /// After how long without one its own process gives it up: it looks once a second, and must not
    /// go on when others may take its place.
    static let ownLength = length - 1_500
    /// How long the leading screen may be silent before another one may lead.
    static let leading = 5_000
    /// How long a screen may be silent before that is told.
    static let silence = 4_500
    /// How far a sign of life may lie in the future. One that lies further was given before the
    /// clock was set back, as by a failover to a slower one, and proves nothing.
    static let skew = 1_000
    /// How often a sign of life is given.
    static let renewal = Duration.seconds(3)

    /// What each transaction begins with: signs of life need neither a standby nor the disk, and a
    /// session whose commit waits for one does not even end with its client.
    static let preamble = Statement("SELECT set_config('synchronous_commit', 'off', true)")

    /// From when a row counts that is inserted now, and may be there since the first attempt, whose
    /// reply was lost; one that is older than a lease is replaced.
    static func start(since first: ContinuousClock.Instant?) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        guard let first, first.duration(to: now) <= .milliseconds(length + skew) else { return now }
        return first
    }

    /// A condition: whether the last sign of life of a row is not older than some milliseconds.
    static func isSeen(within milliseconds: Int = length) -> String {
        "(seen_ms BETWEEN \(clock) - \(milliseconds) AND \(clock) + \(skew))"
    }
}

/// The leases of this process on its screens and on alerts, which it renews.
final class Leases: Sendable {
    private struct State {
        var screens: [ObjectIdentifier: WeakLease] = [:]
        var alertLeases: [Epoch: WeakAlertLease] = [:]
        /// Those that have ended, and whose rows may still be there.
        var ended: Set<UInt64> = []
        var renewal: Task<Void, Never>?
        var expiry: Task<Void, Never>?
        var isClosed = false
    }

    private struct WeakLease { weak var lease: RowScreenLease? }
    private struct WeakAlertLease { weak var lease: RowAlertLease? }

    private let state = Mutex(State())
    private let sessions: Sessions
    private let interruption: Interruption
    /// How rows name the machines of the accounts whose screens they are.
    private let hosts: HostNames
    let changes: ChangeSignal
    private let notify: @Sendable () -> Void

    /// - Parameters:
    ///   - host: The name of this machine.
    ///   - notify: Tells other processes that the screens have changed.
    init(
        _ sessions: Sessions, interruption: Interruption, host: String, changes: ChangeSignal,
        notify: @escaping @Sendable () -> Void
    ) {
        (self.sessions, self.interruption) = (sessions, interruption)
        hosts = HostNames(own: host, home: "")
        self.changes = changes
        self.notify = notify
    }

    /// - Parameter patience: How long it waits for a server that is away.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ operation: String, patience: Duration = Session.openingTime,
        _ body: @escaping @Sendable (ServerTables) throws -> Result
    ) async throws(AlertError) -> Result {
        let end = ContinuousClock.now + patience
        return try await sessions.current.run { [interruption] session throws(AlertError) in
            session.use(interruption, preamble: Lease.preamble)
            return try session.read(operation, until: end) { tables in
                // Whoever ended a lease may want another one at once.
                try self.deleteEnded(tables)
                return try body(tables)
            }
        }
    }

    /// Inserts the row of a lease; returns whether it is there.
    ///
    /// If it is not known to be there, it is deleted, so that it does not keep others out until
    /// its time is over.
    private nonisolated(nonsending) func insert(
        _ epoch: Epoch, _ operation: String,
        _ body: @escaping @Sendable (ServerTables) throws -> Bool
    ) async throws(AlertError) -> Bool {
        do throws(AlertError) {
            return try await run(operation, body)
        } catch {
            state.withLock { _ = $0.ended.insert(epoch.number) }
            startRenewing()
            deleteEndedSoon()
            throw error
        }
    }

    private func deleteEnded(_ tables: ServerTables) throws {
        let ended = ended
        guard !ended.isEmpty else { return }
        let epochs = Value.integers(ended.map { Int64(bitPattern: $0) })
        let deletions = ["screens", "leases"].map { table in
            Statement(
                "DELETE FROM \(table) WHERE queue = $1 AND epoch = ANY ($2::bigint[])",
                tables.queue,
                epochs)
        }
        try tables.db.run(deletions)
        state.withLock { $0.ended.subtract(ended) }
    }

    /// Deletes the rows of leases that have ended.
    private func deleteEndedSoon() {
        Task {
            try? await run("end the lease") { _ in }
            changed()
        }
    }

    func changed() {
        changes.change()
        notify()
    }

    // MARK: Screens

    func attach(_ screen: AttachedScreen) async throws(AlertError) -> RowScreenLease {
        let lease = RowScreenLease(as: try text(screen), of: self)
        let isAttached = try await insert(lease.epoch, "attach the screen") { tables in
            try lease.attach(tables)
        }
        guard isAttached else { throw .tooManyScreens }
        state.withLock { $0.screens[ObjectIdentifier(lease)] = WeakLease(lease: lease) }
        startRenewing()
        changed()
        return lease
    }

    /// Inserts the row of a screen, unless too many are there; returns whether it is.
    static func insert(
        _ epoch: Epoch, _ screen: String, _ tables: ServerTables
    ) throws -> Bool {
        try insert(
            Statement(
                """
                INSERT INTO screens (queue, epoch, screen, seen_ms)
                SELECT $1, $2, $3, \(Lease.clock)
                WHERE (SELECT count(*) FROM screens WHERE queue = $1) < $4
                ON CONFLICT DO NOTHING
                """, tables.queue, epoch.value, .text(screen),
                .integer(AttachedScreen.maximumCount)),
            as: epoch, into: "screens",
            insteadOf: [
                Statement(
                    """
                    DELETE FROM screens WHERE queue = $1 AND epoch IN (SELECT epoch FROM screens
                        WHERE queue = $1 AND NOT \(Lease.isSeen()) FOR UPDATE SKIP LOCKED)
                    """, tables.queue)
            ],
            on: tables)
    }

    /// Deletes rows whose time is over, and inserts one; returns whether it is there, which may be
    /// since an earlier attempt whose reply was lost.
    ///
    /// - Parameters:
    ///   - deletions: Delete those that would keep it out.
    ///   - survivesFailover: Whether a standby must have the row, too.
    static func insert(
        _ insertion: Statement, as epoch: Epoch, into table: String,
        insteadOf deletions: [Statement], survivesFailover: Bool = false, on tables: ServerTables
    ) throws -> Bool {
        let search = Statement(
            "SELECT 1 FROM \(table) WHERE queue = $1 AND epoch = $2", tables.queue, epoch.value)
        let statements = deletions + [insertion, search]
        guard survivesFailover else { return try tables.db.run(statements).last?.count == 1 }
        switch tables.db.commit(statements) {
        case .committed(let results): return results.last?.count == 1
        case .refused(let error), .unknown(let error): throw error
        }
    }

    func text(_ screen: AttachedScreen) throws(AlertError) -> String {
        var screen = screen
        screen.principal = hosts.stored(screen.principal)
        do {
            // It is compared with what was stored.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(screen), as: UTF8.self)
        } catch {
            throw .storage(operation: "describe the screen", "\(error)")
        }
    }

    /// The attached screens.
    func roster(_ tables: ServerTables) throws -> ScreenRoster {
        // In this order: what has ended in between is shown, and not what ended before.
        let ended = ended
        return roster(of: try tables.db.run(tables.query.screens), besides: ended)
    }

    /// The screens in a result of ``Query/screens``.
    ///
    /// - Parameter epochs: Those to leave out.
    func roster(of result: QueryResult, besides epochs: Set<UInt64>) -> ScreenRoster {
        var roster = ScreenRoster()
        for row in result.rows({ ScreenRow($0) }) {
            guard row.isSeen, !epochs.contains(row.epoch),
                var screen = try? JSONDecoder().decode(
                    AttachedScreen.self, from: Data(row.text.utf8))
            else { continue }
            screen.principal = hosts.shown(screen.principal)
            if row.silence > Lease.silence { screen.silence = .milliseconds(row.silence) }
            if row.leads { roster.leader = screen } else { roster.followers.append(screen) }
        }
        return roster
    }

    /// The leases that have ended, and whose rows may still be there.
    var ended: Set<UInt64> { state.withLock { $0.ended } }

    fileprivate func release(_ lease: ObjectIdentifier, _ epoch: Epoch) {
        let wasAttached = state.withLock { state in
            guard state.screens.removeValue(forKey: lease) != nil else { return false }
            state.ended.insert(epoch.number)
            return true
        }
        guard wasAttached else { return }
        changes.change()
        deleteEndedSoon()
    }

    // MARK: Alerts

    nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        let lease = RowAlertLease(of: id, for: purpose, in: self)
        let isLeased = try await insert(lease.number, "lease the alert") { tables in
            try lease.insert(tables)
        }
        guard isLeased else { return nil }
        state.withLock { $0.alertLeases[lease.number] = WeakAlertLease(lease: lease) }
        startRenewing()
        return lease
    }

    /// Notes that a lease is over, whose row is to be deleted.
    func end(_ lease: Epoch) {
        let wasHeld = state.withLock { state in
            guard state.alertLeases.removeValue(forKey: lease) != nil else { return false }
            state.ended.insert(lease.number)
            return true
        }
        if wasHeld { deleteEndedSoon() }
    }

    // MARK: Renewing

    private func startRenewing() {
        state.withLock { state in
            guard state.renewal == nil, !state.isClosed else { return }
            state.renewal = Task { [weak self] in
                while (try? await Task.sleep(for: Lease.renewal)) != nil {
                    guard let self else { return }
                    await self.renew()
                }
            }
            // Whoever waits for the server must not learn late that its time is over.
            state.expiry = Task { [weak self] in
                while (try? await Task.sleep(for: .seconds(1))) != nil {
                    guard let self else { return }
                    self.end(self.alertLeases, self.attached, at: .now) { _ in nil }
                }
            }
        }
    }

    /// Gives a sign of life for each lease; one whose row is gone is lost.
    nonisolated(nonsending) func renew() async {
        let hasSome = state.withLock {
            !$0.screens.isEmpty || !$0.alertLeases.isEmpty || !$0.ended.isEmpty
        }
        guard hasSome else { return }
        try? await run("renew the leases") { tables in
            // Only now: what has ended until now is deleted, and must not come back.
            let (alertLeases, screens) = (self.alertLeases, self.attached)
            // The server grants the time from before it answers.
            let now = ContinuousClock.now
            let renewal = Statement(
                """
                UPDATE screens SET seen_ms = \(Lease.clock)
                WHERE queue = $1 AND epoch = ANY ($2::bigint[]) RETURNING epoch
                """, tables.queue, .integers(screens.map { Int64(bitPattern: $1.number) }))
            let results = try tables.db.run(
                [renewal] + RowAlertLease.renewals(of: alertLeases, tables.queue))
            let kept = Set(results.flatMap { $0.rows { $0.integer() } })
            self.end(alertLeases, screens, at: now) {
                kept.contains(Int64(bitPattern: $0.number))
            }
        }
    }

    /// Ends the leases that are lost.
    ///
    /// - Parameter isKept: Whether a sign of life was stored; `nil` if that is not known.
    private func end(
        _ alertLeases: [RowAlertLease], _ screens: [(RowScreenLease, Epoch)],
        at now: ContinuousClock.Instant, isKept: (Epoch) -> Bool?
    ) {
        for lease in alertLeases where lease.isLost(isKept(lease.number), at: now) { lease.lose() }
        let lost = screens.filter { lease, epoch in lease.isLost(epoch, isKept(epoch), at: now) }
        guard !lost.isEmpty else { return }
        state.withLock { $0.ended.formUnion(lost.map(\.1.number)) }
        changes.change()
    }

    /// The screens of this process with the epochs of their rows.
    private var attached: [(RowScreenLease, Epoch)] {
        leases.compactMap { lease in lease.attachedEpoch.map { (lease, $0) } }
    }

    /// The leases of this process on alerts.
    private var alertLeases: [RowAlertLease] {
        state.withLock { $0.alertLeases.values.compactMap(\.lease) }
    }

    /// The leases of this process's screens.
    private var leases: [RowScreenLease] {
        state.withLock { $0.screens.values.compactMap(\.lease) }
    }

    /// Ends all leases.
    nonisolated(nonsending) func close() async {
        state.withLock { state in
            state.renewal?.cancel()
            state.expiry?.cancel()
        }
        let epochs = leases.map(\.epoch.number)
        let hadAny = state.withLock { state in
            state.ended.formUnion(epochs + state.alertLeases.keys.map(\.number))
            (state.screens, state.alertLeases, state.isClosed) = ([:], [:], true)
            return state.renewal != nil
        }
        // After those that are being deleted.
        guard hadAny else { return }
        try? await run("end the leases", patience: .zero) { _ in }
        changed()
    }
}

extension Epoch {
    var value: Value { .integer(Int64(bitPattern: number)) }
}

/// The attachment of a screen, as a row that this process renews.
///
/// Once it is lost, each look at its state tries to attach the screen again, under another epoch.
final class RowScreenLease: ScreenLease {
    private struct State {
        /// That of the row, or of the one that will be inserted.
        var epoch: Epoch
        /// The one that was told last; if it is another one, it was lost since.
        var told: Epoch
        var isAttached = false
        var isReleased = false
        /// When its row was inserted first: a reply may be lost, and the row be there all the same.
        var firstAttempt: ContinuousClock.Instant?
        var lastSign = ContinuousClock.now
        var announcement: Announcement
        /// The one that others can see; `nil` if the row may say something else.
        var stored: Announcement?
        /// The last look at its state, and how many changes there had been before that.
        var look: (changes: UInt64, found: LeaseState)?

        init(screen: String) {
            announcement = Announcement(screen: screen)
            epoch = Epoch()
            told = epoch
        }

        mutating func lose() {
            (epoch, isAttached, stored, firstAttempt) = (Epoch(), false, nil, nil)
        }
    }

    private struct Announcement: Equatable {
        let screen: String
        /// What it announces if it wants the lead and gets it; `nil` if it does not want it.
        var leading: String?
    }

    private let leases: Leases
    private let state: Mutex<State>

    init(as screen: String, of leases: Leases) {
        self.leases = leases
        state = Mutex(State(screen: screen))
    }

    deinit { release() }

    var epoch: Epoch { state.withLock { $0.epoch } }

    /// The epoch of its row; `nil` while it has none.
    var attachedEpoch: Epoch? { state.withLock { $0.isAttached ? $0.epoch : nil } }

    /// Inserts its row; returns whether it is there.
    func attach(_ tables: ServerTables) throws -> Bool {
        // The server grants the time from before it answers.
        let (epoch, screen, start) = state.withLock { state in
            let start = Lease.start(since: state.firstAttempt)
            state.firstAttempt = start
            return (state.epoch, state.announcement.screen, start)
        }
        let isAttached = try Leases.insert(epoch, screen, tables)
        state.withLock { state in
            (state.isAttached, state.lastSign) = (isAttached, start)
            if !isAttached { state.firstAttempt = nil }
        }
        return isAttached
    }

    /// Notes whether a sign of life was stored, or that this is not known; returns whether the
    /// attachment has just been lost.
    func isLost(_ epoch: Epoch, _ isKept: Bool?, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard state.isAttached, state.epoch == epoch else { return false }
            if isKept == true { state.lastSign = now }
            // An error of any kind means that it may be lost, and after its time it is.
            let isOver =
                isKept == false
                || state.lastSign.duration(to: now) > .milliseconds(Lease.ownLength)
            if isOver { state.lose() }
            return isOver
        }
    }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        var leader = screen
        // The alert that it shows stays the current alert.
        leader.current = screen.current ?? screen.alert
        guard let text = try? leases.text(screen), let leading = try? leases.text(leader) else {
            return .lost
        }
        let announcement = Announcement(screen: text, leading: wantsLead ? leading : nil)
        state.withLock { $0.announcement = announcement }
        let found = try? await leases.run("announce the screen") { tables in
            try self.look(tables, announces: true)
        }
        return found ?? .lost
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        if let look = state.withLock({ $0.look }), look.found == seen {
            await leases.changes.wait(after: look.changes, atMost: .seconds(1))
        }
        let changes = leases.changes.count
        let found = try? await leases.run("look for screens") { tables in
            try self.look(tables, announces: false)
        }
        return state.withLock { state in
            // Once that it was lost, although it is attached again.
            let wasLost = state.told != state.epoch
            state.told = state.epoch
            state.look = wasLost ? nil : (changes, found ?? .lost)
            return wasLost ? .lost : found ?? .lost
        }
    }

    /// Reads the state. A screen that has lost its row is told so, and attached by the next look.
    private func look(
        _ tables: ServerTables, announces: Bool
    ) throws -> LeaseState {
        let state = state.withLock { $0 }
        guard !state.isReleased else { return .lost }
        if !state.isAttached {
            guard try attach(tables) else { return .lost }
            leases.changed()
        }
        let announcement = state.announcement
        if announces, announcement != state.stored {
            // If the reply is lost, the row may say either.
            self.state.withLock { $0.stored = nil }
            try tables.db.run(
                """
                UPDATE screens SET screen = $3, seen_ms = \(Lease.clock),
                    leads = CASE WHEN $4 = 1 THEN leads ELSE 0 END
                WHERE queue = $1 AND epoch = $2
                """, tables.queue, state.epoch.value, .text(announcement.screen),
                .integer(announcement.leading == nil ? 0 : 1))
            self.state.withLock { if $0.epoch == state.epoch { $0.stored = announcement } }
            leases.changed()
        }
        let found = try self.state(state.epoch, leading: announcement.leading, tables)
        if found == .lost {
            self.state.withLock { if $0.epoch == state.epoch { $0.lose() } }
        }
        return found
    }

    /// Reads the state; a screen that wants the lead gets it if nobody has it.
    private func state(
        _ epoch: Epoch, leading: String?, _ tables: ServerTables
    ) throws -> LeaseState {
        let found = try storedState(epoch, tables)
        guard let leading, case .following(let others) = found else { return found }
        if let leader = others.leader, leader.silence ?? .zero <= .milliseconds(Lease.leading) {
            return found
        }
        state.withLock { $0.stored = nil }
        try Self.lead(epoch, as: leading, tables)
        leases.changed()
        return try storedState(epoch, tables)
    }

    /// What is stored of the attachment, and of the other screens.
    private func storedState(
        _ epoch: Epoch, _ tables: ServerTables
    ) throws -> LeaseState {
        let result = try tables.db.run(tables.query.screens)
        let row = result.rows { ScreenRow($0) }.first { $0.epoch == epoch.number }
        guard let row else { return .lost }
        let others = leases.roster(of: result, besides: [epoch.number])
        return row.leads ? .leading(others) : .following(others)
    }

    private static func lead(
        _ epoch: Epoch, as screen: String, _ tables: ServerTables
    ) throws {
        do throws(PostgreSQLError) {
            try tables.db.run(
                [
                    Statement(
                        """
                        DELETE FROM screens WHERE queue = $1 AND leads = 1
                            AND NOT \(Lease.isSeen(within: Lease.leading))
                        """, tables.queue),
                    Statement(
                        """
                        UPDATE screens SET leads = 1, screen = $3
                        WHERE queue = $1 AND epoch = $2
                            AND NOT EXISTS (SELECT 1 FROM screens WHERE queue = $1 AND leads = 1)
                        """, tables.queue, epoch.value, .text(screen)),
                ])
        } catch {
            // Another screen has taken the lead in the same moment.
            guard error.server?.constraint == "screens_leader" else { throw error }
        }
    }

    func release() {
        let epoch = state.withLock { state in
            (state.isReleased, state.isAttached) = (true, false)
            return state.epoch
        }
        leases.release(ObjectIdentifier(self), epoch)
    }
}
