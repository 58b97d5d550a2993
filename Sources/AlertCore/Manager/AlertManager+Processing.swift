import TextFormats

/// How an attempt to process a response ended.
package enum Processing: Sendable {
    /// The code has returned, and the response is collected.
    case collected(AlertRecord)
    /// It was already collected, or there is none that this process may collect.
    case gone
    /// It may no longer be used, because of ``Alert/validFor``, and has been collected without the
    /// code.
    case stale(AlertRecord)
    /// Another process has it, or its asker may still take it.
    case held
    /// The code failed, or the response could not be read; it stays uncollected.
    case failed(any Error)
    /// The code has returned, but that could not be stored, and the response stays uncollected.
    case unstored(any Error)
    case notLeased(AlertError)
}

// One way to let code process a response, for named handlers and for hooks.
extension AlertManager {
    /// Lets code process the response to an alert, in one process at a time, and collects it when the
    /// code returns. The code's task is cancelled if this process loses its lease meanwhile.
    ///
    /// - Parameters:
    ///   - handler: The name of the handler that the response belongs to, if any.
    ///   - grace: How long after its response an alert is left to an asker whose process is still
    ///     running.
    package nonisolated func process(
        _ id: Alert.ID, of handler: String?, grace: Duration = .zero,
        by code: @escaping @Sendable (AlertRecord, any AlertLease) async throws -> Void
    ) async -> Processing {
        let lease: any AlertLease
        do throws(AlertError) {
            guard let mine = try await store.lease(id) else { return .held }
            lease = mine
        } catch {
            return .notLeased(error)
        }
        defer { lease.end() }
        let work = Task(executorPreference: CallbackExecutor.shared) {
            try await self.process(id, of: handler, grace: grace, under: lease, by: code)
        }
        lease.whenLost { work.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch {
            return work.isCancelled && !Task.isCancelled ? .held : .failed(error)
        }
    }

    private nonisolated func process(
        _ id: Alert.ID, of handler: String?, grace: Duration, under lease: any AlertLease,
        by code: @Sendable (AlertRecord, any AlertLease) async throws -> Void
    ) async throws -> Processing {
        // Another process may have processed it just before this one leased it.
        let record = try await store.record(id)
        guard let response = record.response, response.collectedAt == nil, mayCollect(record)
        else { return .gone }
        // It was found by its response's row, but the alert's own row counts.
        guard record.alert.handler.isIdentical(to: handler) else {
            throw AlertError.inconsistent(id, "its handler is not the one of its response")
        }
        if isAskerNear(record, response, grace: grace) { return .held }
        guard !response.isStale else {
            switch await storeCollection(of: id, because: .stale, under: lease.epoch) {
            case .collected(let record): return .stale(record)
            case .unstored(let error): return .failed(error)
            case let end: return end
            }
        }
        try Task.checkCancellation()
        try await code(record, lease)
        return await storeCollection(of: id, under: lease.epoch)
    }

    /// How often a process that is asked to end tries to store what has been done.
    private static var lastTries: Int { 5 }

    /// Stores that a response has been processed, however long the queue can't be written: the code
    /// must not run again for that reason. A process that is asked to end tries it for some seconds.
    private nonisolated func storeCollection(
        of id: Alert.ID, because reason: EntryReason? = nil, under epoch: Epoch?
    ) async -> Processing {
        let backoff = Backoff(longest: .seconds(60))
        var (failures, left) = (0, Self.lastTries)
        while true {
            // In tasks of their own, which are not cancelled with this process.
            let attempt = Task { [store, context] in
                try await store.commit(
                    .collect(id, because: reason), by: context.caller, under: epoch)
            }
            do {
                return .collected(try await attempt.value.record)
            } catch AlertError.detached {
                return .held
            } catch {
                failures += 1
                if Task.isCancelled { left -= 1 }
                guard let error = error as? AlertError, error.mayPass, !isClosed, left > 0
                else { return .unstored(error) }
                if failures == 1 { context.errors.report(.uncollected(id, error)) }
            }
            if Task.isCancelled {
                await Task { [context] in try? await context.clock.sleep(for: .seconds(1)) }.value
            } else {
                try? await context.clock.sleep(for: backoff.pause(after: failures))
            }
        }
    }

    private nonisolated func isAskerNear(
        _ record: AlertRecord, _ response: Response, grace: Duration
    ) -> Bool {
        guard let asker = record.source.process, asker.isRunning,
            (store.actingProcess ?? context.caller.process).map(asker.isSame) != true
        else { return false }
        let age = context.clock.now().wallMilliseconds - Timestamp.milliseconds(response.resolvedAt)
        // A clock that was set back must not delay the code forever.
        return (0..<grace.milliseconds).contains(age)
    }
}
