import AlertCore
import PostgreSQL
import Synchronization

/// A lease as a row that this process renews.
///
/// The row of one that handles a response is deleted by the next process that wants it, once it
/// was not renewed for the length of a lease; then it is lost. One that only waits is inserted
/// again.
final class RowAlertLease: AlertLease {
    private enum Phase {
        /// With what is called when it is lost.
        case held((@Sendable () -> Void)?)
        case lost
        case ended
    }

    private struct State {
        /// When its row was inserted first: a reply may be lost, and the row be there all the same.
        var firstAttempt: ContinuousClock.Instant?
        var lastSign = ContinuousClock.now
        var phase = Phase.held(nil)
    }

    let number = Epoch()
    private let alert: Alert.ID
    private let purpose: LeasePurpose
    private let leases: Leases
    private let state = Mutex(State())

    init(of alert: Alert.ID, for purpose: LeasePurpose, in leases: Leases) {
        (self.alert, self.purpose, self.leases) = (alert, purpose, leases)
    }

    deinit { end() }

    var descriptor: Int32? { nil }

    var epoch: Epoch? { purpose == .handling ? number : nil }

    /// Inserts its row, unless another process handles the alert; returns whether it is there.
    func insert(_ tables: ServerTables) throws -> Bool {
        // The server grants the time from before it answers.
        let start = state.withLock { state in
            let start = Lease.start(since: state.firstAttempt)
            state.firstAttempt = start
            return start
        }
        let lapsed = Statement(
            """
            DELETE FROM leases WHERE queue = $1 AND alert_id = $2 AND purpose = 'handling'
                AND NOT \(Lease.isSeen())
            """, tables.queue, .integer(alert))
        let isThere = try Leases.insert(
            Statement(
                """
                INSERT INTO leases (queue, alert_id, purpose, epoch, seen_ms)
                VALUES ($1, $2, $3, $4, \(Lease.clock)) ON CONFLICT DO NOTHING
                """, tables.queue, .integer(alert),
                .text(purpose == .handling ? "handling" : "waiting"), number.value),
            as: number, into: "leases",
            insteadOf: purpose == .handling ? [lapsed] : [],
            survivesFailover: purpose == .handling, on: tables)
        state.withLock { $0.lastSign = start }
        return isThere
    }

    /// The statements that renew leases, and return the epochs of those that are there; then one
    /// that deletes others whose time is over.
    static func renewals(of leases: [RowAlertLease], _ queue: Value) -> [Statement] {
        let handling = leases.filter { $0.purpose == .handling }
        let waiting = leases.filter { $0.purpose == .waiting }
        return [
            Statement(
                """
                UPDATE leases SET seen_ms = \(Lease.clock)
                WHERE queue = $1 AND epoch = ANY ($2::bigint[]) RETURNING epoch
                """, queue, .integers(handling.map { Int64(bitPattern: $0.number.number) })),
            Statement(
                """
                INSERT INTO leases (queue, alert_id, purpose, epoch, seen_ms)
                SELECT $1::int, alert, 'waiting', epoch, \(Lease.clock)
                FROM unnest($2::bigint[], $3::bigint[]) AS waiting (alert, epoch)
                ON CONFLICT (queue, epoch) DO UPDATE SET seen_ms = excluded.seen_ms
                RETURNING epoch
                """, queue, .integers(waiting.map(\.alert)),
                .integers(waiting.map { Int64(bitPattern: $0.number.number) })),
            // Those of processes that have vanished, which nobody else deletes. Rows that are locked are
            // being renewed: two processes that waited for each other's would deadlock.
            Statement(
                """
                DELETE FROM leases WHERE queue = $1 AND epoch IN (SELECT epoch FROM leases
                    WHERE queue = $1 AND (purpose = 'waiting' AND NOT \(Lease.isSeen())
                        OR seen_ms < \(Lease.clock) - 86400000) FOR UPDATE SKIP LOCKED)
                """, queue),
        ]
    }

    /// Notes whether a sign of life was stored, or that this is not known; returns whether the
    /// lease is lost.
    func isLost(_ isKept: Bool?, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            if isKept == true { state.lastSign = now }
            // An error of any kind means that it may be lost, and after its time it is.
            guard purpose == .handling, case .held = state.phase else { return false }
            return isKept == false
                || state.lastSign.duration(to: now) > .milliseconds(Lease.ownLength)
        }
    }

    func lose() { leave(for: .lost)?() }

    func whenLost(_ body: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if case .held = state.phase { state.phase = .held(body) }
            return if case .lost = state.phase { true } else { false }
        }
        if isLost { body() }
    }

    func end() { _ = leave(for: .ended) }

    /// Leaves the lease for another phase, unless it is over; returns what is called when it is
    /// lost.
    private func leave(for phase: Phase) -> (@Sendable () -> Void)? {
        let (wasHeld, onLost) = state.withLock { state in
            guard case .held(let onLost) = state.phase else {
                return (false, (@Sendable () -> Void)?.none)
            }
            state.phase = phase
            return (true, onLost)
        }
        if wasHeld { leases.end(number) }
        return onLost
    }
}
