#if PostgreSQL
    import AlertCore
    import FoundationEssentials
    import PostgreSQL
    import Synchronization

    /// How long a row proves that a process is there; all of it by the server's clock.
    enum Lease {
        /// The server's clock, in milliseconds.
        static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        /// How long a screen or a claim counts after its last sign of life, in milliseconds.
        static let length = 10_000
        /// How long the leading screen may be silent before another one may lead.
        static let leading = 5_000
        /// How long a screen may be silent before that is told.
        static let silence = 3_000
        /// How often a sign of life is given.
        static let renewal = Duration.seconds(1)
    }

    /// The screens and claims of this process, whose leases it renews.
    final class Leases: Sendable {
        private struct State {
            var screens: [Epoch: WeakLease] = [:]
            var claims: Set<UInt64> = []
            /// Those that have ended, and whose rows were not deleted yet.
            var ended: [UInt64] = []
            var renewal: Task<Void, Never>?
            var isClosed = false
        }

        private struct WeakLease { weak var lease: RowLease? }

        private let state = Mutex(State())
        private let sessions: QueueConfined<Session>
        let changes: ChangeSignal
        private let notify: @Sendable () -> Void

        /// - Parameter notify: Tells other processes that the screens have changed.
        init(
            _ sessions: QueueConfined<Session>, changes: ChangeSignal,
            notify: @escaping @Sendable () -> Void
        ) {
            self.sessions = sessions
            self.changes = changes
            self.notify = notify
        }

        /// - Parameter patience: How long it waits for a server that is away.
        nonisolated(nonsending) func run<Result: Sendable>(
            _ operation: String, patience: Duration = Session.openingTime,
            _ body: @escaping @Sendable (Connection, _ queue: Value) throws -> Result
        ) async throws(AlertError) -> Result {
            let end = ContinuousClock.now + patience
            return try await sessions.run { session throws(AlertError) in
                try session.read(operation, until: end) { db, queue in
                    // Whoever ended a lease may want another one at once.
                    try self.deleteEnded(db, queue)
                    return try body(db, queue)
                }
            }
        }

        private func deleteEnded(_ db: Connection, _ queue: Value) throws {
            let ended = state.withLock { state in
                defer { state.ended = [] }
                return state.ended
            }
            guard !ended.isEmpty else { return }
            do {
                for table in ["screens", "claims"] {
                    try db.run(
                        "DELETE FROM \(table) WHERE queue = $1 AND epoch = ANY ($2::bigint[])",
                        queue, .integers(ended.map { Int64(bitPattern: $0) }))
                }
            } catch {
                // The next call tries it again.
                state.withLock { $0.ended += ended }
                throw error
            }
        }

        /// Deletes the rows of leases that have ended.
        private func deleteEndedSoon() {
            Task {
                try? await run("end the lease") { _, _ in }
                changed()
            }
        }

        func changed() {
            changes.change()
            notify()
        }

        // MARK: Screens

        func attach(_ screen: AttachedScreen) async throws(AlertError) -> RowLease {
            let epoch = Epoch()
            let text = try Self.text(screen)
            let isAttached = try await run("attach the screen") { db, queue in
                try db.run(
                    Pipeline([
                        Statement(
                            """
                            DELETE FROM screens
                            WHERE queue = $1 AND seen_ms < \(Lease.clock) - \(Lease.length)
                            """, queue),
                        Statement(
                            """
                            INSERT INTO screens (queue, epoch, screen, seen_ms)
                            SELECT $1, $2, $3, \(Lease.clock)
                            WHERE (SELECT count(*) FROM screens WHERE queue = $1) < $4
                            ON CONFLICT DO NOTHING
                            """, queue, epoch.value, .text(text), .integer(Self.capacity)),
                        // Also if it was stored before, and the reply was lost.
                        Statement(
                            "SELECT 1 FROM screens WHERE queue = $1 AND epoch = $2", queue,
                            epoch.value),
                    ]))[2].count == 1
            }
            guard isAttached else {
                throw .busy(
                    "\(Self.capacity) screens show this queue, which is the maximum; end one of "
                        + "them and try again")
            }
            let lease = RowLease(epoch, of: self)
            state.withLock { $0.screens[epoch] = WeakLease(lease: lease) }
            startRenewing()
            changed()
            return lease
        }

        /// How many screens may be attached.
        private static let capacity = 64

        static func text(_ screen: AttachedScreen) throws(AlertError) -> String {
            do {
                return String(decoding: try JSONEncoder().encode(screen), as: UTF8.self)
            } catch {
                throw .storage(operation: "describe the screen", "\(error)")
            }
        }

        /// The attached screens.
        ///
        /// - Parameter epoch: One to leave out.
        nonisolated(nonsending) func roster(
            without epoch: Epoch? = nil
        ) async throws(AlertError) -> ScreenRoster {
            try await run("look for screens") { db, queue in
                try Self.roster(db, queue, without: epoch).others
            }
        }

        /// The other screens, and what is stored about one: whether it is there and leads.
        static func roster(
            _ db: Connection, _ queue: Value, without epoch: Epoch?
        ) throws -> (others: ScreenRoster, isThere: Bool, leads: Bool) {
            var roster = ScreenRoster()
            var own: (isThere: Bool, leads: Bool) = (false, false)
            let rows = try db.rows(
                """
                SELECT epoch, leads, screen, \(Lease.clock) - seen_ms FROM screens
                WHERE queue = $1 AND seen_ms > \(Lease.clock) - \(Lease.length) ORDER BY epoch
                """, queue
            ) { row in
                (
                    epoch: row.integer(at: 0), leads: row.integer(at: 1) == 1,
                    text: row.optionalText(at: 2) ?? "", silence: row.integer(at: 3)
                )
            }
            for row in rows {
                if let epoch, row.epoch == Int64(bitPattern: epoch.number) {
                    own = (true, row.leads)
                    continue
                }
                guard
                    var screen = try? JSONDecoder().decode(
                        AttachedScreen.self, from: Data(row.text.utf8))
                else { continue }
                if row.silence > Lease.silence { screen.silence = .milliseconds(row.silence) }
                if row.leads { roster.leader = screen } else { roster.followers.append(screen) }
            }
            return (roster, own.isThere, own.leads)
        }

        func release(_ epoch: Epoch) {
            state.withLock { state in
                state.screens[epoch] = nil
                state.ended.append(epoch.number)
            }
            changes.change()
            deleteEndedSoon()
        }

        // MARK: Claims

        nonisolated(nonsending) func claim(
            _ id: Alert.ID, for purpose: ClaimPurpose
        ) async throws(AlertError) -> (any Claim)? {
            let number = Epoch().number
            let isClaimed = try await run("claim the alert") { db, queue in
                let expired = "seen_ms < \(Lease.clock) - \(Lease.length)"
                let isHandling = purpose == .handling
                return try db.run(
                    Pipeline([
                        Statement(
                            "DELETE FROM claims WHERE queue = $1 AND \(expired)", queue),
                        Statement(
                            """
                            INSERT INTO claims (queue, alert_id, purpose, epoch, seen_ms)
                            VALUES ($1, $2, $3, $4, \(Lease.clock)) ON CONFLICT DO NOTHING
                            """, queue, .integer(id), .text(isHandling ? "handling" : "waiting"),
                            .integer(Int64(bitPattern: number))),
                        // Also if it was stored before, and the reply was lost.
                        Statement(
                            "SELECT 1 FROM claims WHERE queue = $1 AND epoch = $2", queue,
                            .integer(Int64(bitPattern: number))),
                    ]))[2].count == 1
            }
            guard isClaimed else { return nil }
            state.withLock { _ = $0.claims.insert(number) }
            startRenewing()
            return ClosureClaim { self.endClaim(number) }
        }

        private func endClaim(_ number: UInt64) {
            state.withLock { state in
                if state.claims.remove(number) != nil { state.ended.append(number) }
            }
            deleteEndedSoon()
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
            }
        }

        /// Gives a sign of life of each screen and claim; a screen whose row is gone is lost.
        private func renew() async {
            let (screens, claims) = state.withLock { state in
                state.screens = state.screens.filter { $0.value.lease != nil }
                return (state.screens.values.compactMap(\.lease), Array(state.claims))
            }
            guard !screens.isEmpty || !claims.isEmpty else { return }
            // The server grants the time from before it answers.
            let now = ContinuousClock.now
            let kept = try? await run("renew the leases") { db, queue -> Set<Int64> in
                let results = try db.run(
                    Pipeline([
                        Statement(
                            """
                            UPDATE screens SET seen_ms = \(Lease.clock)
                            WHERE queue = $1 AND epoch = ANY ($2::bigint[])
                                AND seen_ms > \(Lease.clock) - \(Lease.length) RETURNING epoch
                            """, queue,
                            .integers(screens.map { Int64(bitPattern: $0.epoch.number) })),
                        Statement(
                            """
                            UPDATE claims SET seen_ms = \(Lease.clock)
                            WHERE queue = $1 AND epoch = ANY ($2::bigint[])
                            """, queue, .integers(claims.map { Int64(bitPattern: $0) })),
                    ]))
                return Set(results[0].rows { $0.integer() })
            }
            var isLost = false
            for screen in screens {
                let isKept = kept.map { $0.contains(Int64(bitPattern: screen.epoch.number)) }
                isLost = screen.note(isKept, at: now) || isLost
            }
            if isLost { changes.change() }
        }

        /// Ends all leases, without waiting.
        func stop() { state.withLock { $0.renewal?.cancel() } }

        nonisolated(nonsending) func close() async {
            stop()
            let hadAny = state.withLock { state in
                state.ended += state.screens.keys.map(\.number) + state.claims
                (state.screens, state.claims, state.isClosed) = ([:], [], true)
                return state.renewal != nil
            }
            // After those that are being deleted.
            guard hadAny else { return }
            try? await run("end the leases", patience: .zero) { _, _ in }
            changed()
        }
    }

    extension Epoch {
        fileprivate var value: Value { .integer(Int64(bitPattern: number)) }
    }

    /// The attachment of a screen, as a row that this process renews.
    final class RowLease: ScreenLease {
        let epoch: Epoch
        private let leases: Leases
        private struct State {
            var isLost = false
            var lastSign = ContinuousClock.now
            /// What it announces if it wants the lead and gets it; `nil` if it does not want it.
            var leading: String?
        }
        private let state = Mutex(State())

        init(_ epoch: Epoch, of leases: Leases) {
            self.epoch = epoch
            self.leases = leases
        }

        deinit { release() }

        /// Notes whether a sign of life was stored, or that this is not known; returns whether the
        /// lease has just been lost.
        func note(_ isKept: Bool?, at now: ContinuousClock.Instant) -> Bool {
            state.withLock { state in
                if isKept == true { state.lastSign = now }
                // An error of any kind means that it may be lost, and after its time it is.
                let isOver =
                    isKept == false
                    || state.lastSign.duration(to: now) > .milliseconds(Lease.length)
                guard isOver, !state.isLost else { return false }
                state.isLost = true
                return true
            }
        }

        nonisolated(nonsending) func announce(
            _ screen: AttachedScreen, wantsLead: Bool
        ) async -> LeaseState {
            guard !state.withLock({ $0.isLost }) else { return .lost }
            var leader = screen
            // The alert that it shows stays the current alert.
            leader.current = screen.current ?? screen.alert
            guard let text = try? Leases.text(screen), let leading = try? Leases.text(leader) else {
                return .lost
            }
            state.withLock { $0.leading = wantsLead ? leading : nil }
            let epoch = epoch
            let found = try? await leases.run("announce the screen") { db, queue -> LeaseState in
                let changes = try db.run(
                    """
                    UPDATE screens SET screen = $3, seen_ms = \(Lease.clock),
                        leads = CASE WHEN $4 = 1 THEN leads ELSE 0 END
                    WHERE queue = $1 AND epoch = $2 AND seen_ms > \(Lease.clock) - \(Lease.length)
                    """, queue, epoch.value, .text(text), .integer(wantsLead ? 1 : 0)
                ).changes
                guard changes == 1 else { return .lost }
                return try Self.state(epoch, leading: wantsLead ? leading : nil, db, queue)
            }
            leases.changed()
            if found == .lost { state.withLock { $0.isLost = true } }
            return found ?? .lost
        }

        nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
            let count = leases.changes.count
            let now = await current()
            guard now == seen, now != .lost else { return now }
            await leases.changes.wait(after: count, atMost: .seconds(1))
            return await current()
        }

        private nonisolated(nonsending) func current() async -> LeaseState {
            let (isLost, leading) = state.withLock { ($0.isLost, $0.leading) }
            guard !isLost else { return .lost }
            let epoch = epoch
            let found = try? await leases.run("look for screens") { db, queue in
                try Self.state(epoch, leading: leading, db, queue)
            }
            if found == .lost { state.withLock { $0.isLost = true } }
            return found ?? .lost
        }

        /// Reads the state; a screen that wants the lead gets it if nobody has it.
        private static func state(
            _ epoch: Epoch, leading: String?, _ db: Connection, _ queue: Value
        ) throws -> LeaseState {
            var found = try Leases.roster(db, queue, without: epoch)
            guard found.isThere else { return .lost }
            if let leading, !found.leads {
                try lead(epoch, as: leading, db, queue)
                found = try Leases.roster(db, queue, without: epoch)
            }
            return found.leads ? .leading(found.others) : .following(found.others)
        }

        private static func lead(
            _ epoch: Epoch, as screen: String, _ db: Connection, _ queue: Value
        ) throws {
            do throws(PostgreSQLError) {
                try db.run(
                    Pipeline([
                        Statement(
                            """
                            UPDATE screens SET leads = 0 WHERE queue = $1 AND leads = 1
                                AND seen_ms < \(Lease.clock) - \(Lease.leading)
                            """, queue),
                        Statement(
                            """
                            UPDATE screens SET leads = 1, screen = $3
                            WHERE queue = $1 AND epoch = $2
                                AND NOT EXISTS (SELECT 1 FROM screens WHERE queue = $1 AND leads = 1)
                            """, queue, epoch.value, .text(screen)),
                    ]))
            } catch {
                // Another screen has taken the lead in the same moment.
                guard error.server?.constraint == "screens_leader" else { throw error }
            }
        }

        func release() {
            let wasLost = state.withLock { state in
                defer { state.isLost = true }
                return state.isLost
            }
            if !wasLost { leases.release(epoch) }
        }
    }
#endif
