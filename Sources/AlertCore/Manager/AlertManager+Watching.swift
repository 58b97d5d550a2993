import TextFormats

// What the command needs besides the public API: the growing log, responses that nobody takes, and
// leases on them.
extension AlertManager {
    package nonisolated var now: ClockReading { context.clock.now() }

    /// How far this process has seen the log grow.
    package nonisolated var position: LogPosition { store.position }

    /// Returns entries of the audit log after one, or none if a second passes without
    /// any.
    package nonisolated func nextAudit(
        after head: AuditHead, of id: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AuditEntry] {
        let position = store.position
        let page = try await store.entries(after: head, of: id, limit: limit)
        if page.isEmpty { await waitForChange(after: position) }
        return page
    }

    /// Waits until something has changed after a position, or a second has passed.
    package nonisolated func waitForChange(after position: LogPosition) async {
        do throws(AlertError) {
            _ = try await store.news(after: position, of: .everybody)
        } catch {
            // The callers get the error when they read.
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns responses that no asker has taken and no named handler waits for, oldest first:
    /// those that this process may collect.
    ///
    /// The others count for the limit, so a page may be empty before the end.
    package nonisolated func awaitingHook(
        _ filter: HistoryFilter, after position: Int64?, limit: Int
    ) async throws(AlertError) -> RecordPage {
        var page = try await store.page(
            RecordQuery(.awaitingHook(filter), after: position, limit: limit))
        page.records.removeAll { !mayCollect($0) }
        return page
    }

    /// Whether this process may collect the response to an alert; others' are left to them.
    package nonisolated func mayCollect(_ record: AlertRecord) -> Bool {
        context.mayCollect(record)
    }

    /// Takes the lease on the response of an alert for an asker that waits for it or takes it, so that
    /// no hook does; `nil` if that is impossible, or the response is for a named handler or another
    /// account.
    ///
    /// If the server is away while the alert waits, the lease is taken as soon as the server is back.
    package nonisolated func leaseResponse(
        to record: AlertRecord
    ) async -> (any AlertLease)? {
        guard record.alert.handler == nil, mayCollect(record) else { return nil }
        let attempt: AskerLease.Attempt = { [store] () async throws(AlertError) in
            try await store.lease(record.id)
        }
        do throws(AlertError) {
            return try await attempt().map { AskerLease($0, making: attempt) }
        } catch {
            // Whoever takes a response that is there must have the lease first.
            guard error.isServerAway, record.response == nil else { return nil }
            return AskerLease(making: attempt)
        }
    }

    /// Takes the lease on the response of an alert; `nil` while another process has it.
    package nonisolated func lease(
        _ record: AlertRecord
    ) async throws(AlertError) -> (any AlertLease)? {
        try await store.lease(record.id)
    }
}

// MARK: - Ending

extension AlertManager {
    /// The process that prevents this one from writing now, if there is one and it is visible.
    package nonisolated var lockHolder: LockHolder? { (store as? any LockWaiting)?.lockHolder }

    /// Stops this manager from waiting long for a lock that another process holds: current
    /// operations fail with ``AlertError/busy(_:)`` instead, and nothing of them is stored.
    package nonisolated func prepareToEnd() { (store as? any LockWaiting)?.prepareToEnd() }

    /// Runs a closure, and closes the manager in every case.
    package nonisolated(nonsending) func closing<Result: Sendable>(
        _ body: (AlertManager) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(self)
            await close()
            return result
        } catch {
            // This process has already waited for the lock, or the server, in vain.
            switch error {
            case AlertError.busy, AlertError.unreachable: prepareToEnd()
            default: break
            }
            await close()
            throw error
        }
    }
}
