import TextFormats

// What `alertq watch` needs: the growing log, and responses that nobody takes.
extension AlertManager {
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
    package nonisolated func unclaimed(
        _ filter: HistoryFilter, after position: Int64?, limit: Int
    ) async throws(AlertError) -> RecordPage {
        var page = try await store.page(
            RecordQuery(.unclaimed(filter), after: position, limit: limit))
        page.records.removeAll { !mayCollect($0) }
        return page
    }

    /// Whether this process may collect the response to an alert; others' are left to them.
    package nonisolated func mayCollect(_ record: AlertRecord) -> Bool {
        context.mayCollect(record)
    }

    /// Claims the response of an alert for an asker that waits for it or takes it, so that no hook
    /// does; `nil` if that is impossible, or the response is for a named handler or another account.
    ///
    /// If the server is away while the alert waits, the claim is made when the server is back.
    package nonisolated func claimResponse(
        to record: AlertRecord
    ) async -> (any Claim)? {
        guard record.alert.handler == nil, mayCollect(record) else { return nil }
        let attempt: AskerClaim.Attempt = { [store] () async throws(AlertError) in
            try await store.claim(record.id)
        }
        do throws(AlertError) {
            return try await attempt().map { AskerClaim($0, making: attempt) }
        } catch {
            // Whoever takes a response that is there must have the claim first.
            guard error.isServerAway, record.response == nil else { return nil }
            return AskerClaim(making: attempt)
        }
    }

    /// Claims the response of an alert; `nil` while another process has the claim.
    package nonisolated func claim(
        _ record: AlertRecord
    ) async throws(AlertError) -> (any Claim)? {
        try await store.claim(record.id)
    }
}

/// The result of offering a response to a hook.
package enum HookOffer: Sendable {
    /// The hook is done with it, and it has been collected.
    case collected
    /// It was already collected, or there is nothing that this process may collect.
    case gone
    /// It may no longer be used, because of ``Alert/validFor``, and has been collected without the
    /// hook.
    case stale
    /// Its asker may still take it, or another process is working on it.
    case taken
    /// The hook failed, or the response could not be marked as collected; it stays uncollected.
    case failed
}

extension AlertManager {
    /// Lets a hook process a response that nobody has taken, in one process at a time, and collects
    /// it if the hook succeeds. If its turn is lost meanwhile, the hook's task is cancelled.
    ///
    /// - Parameter grace: How long after its response an alert is left to an asker whose process is
    ///   still running.
    package nonisolated func offer(
        _ id: Alert.ID, grace: Duration,
        to hook: @escaping @Sendable (AlertRecord, any Claim) async -> Bool
    ) async throws(AlertError) -> HookOffer {
        guard let claim = try await store.claim(id) else { return .taken }
        defer { claim.end() }
        let record = try await store.record(id)
        guard let response = record.response, response.collectedAt == nil, mayCollect(record)
        else { return .gone }
        if isAskerNear(record, response, grace: grace) { return .taken }
        guard !response.isStale else {
            await collectStale(record)
            return .stale
        }
        let work = Task { await hook(record, claim) }
        claim.whenLost { work.cancel() }
        let isDone = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        guard isDone else { return work.isCancelled && !Task.isCancelled ? .taken : .failed }
        // Also in a process that is asked to end: another one would do it again.
        return try await Task { await collectDone(id, under: claim.epoch) }.value.get()
    }

    /// Collects what a hook is done with, and tries again for some seconds if that can't be stored.
    private nonisolated func collectDone(
        _ id: Alert.ID, under epoch: Epoch?
    ) async -> Result<HookOffer, AlertError> {
        for _ in 1...5 {
            do throws(AlertError) {
                try await store.collect(id, by: context.caller, under: epoch)
                return .success(.collected)
            } catch .detached {
                return .success(.taken)
            } catch {
                guard error.mayPass else { return .failure(error) }
                try? await context.clock.sleep(for: .seconds(1))
            }
        }
        return .success(.failed)
    }

    private nonisolated func isAskerNear(
        _ record: AlertRecord, _ response: Response, grace: Duration
    ) -> Bool {
        guard let asker = record.source.process, asker.isRunning,
            context.caller.process.map(asker.isSame) != true
        else { return false }
        let age = context.clock.now().wallMilliseconds - Timestamp.milliseconds(response.resolvedAt)
        // A clock that was set back must not delay the hook forever.
        return (0..<grace.milliseconds).contains(age)
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
