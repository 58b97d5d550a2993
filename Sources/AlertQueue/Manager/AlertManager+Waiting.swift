// Waiting for the responses to what was asked.

/// An alert that has been asked, and whose response may have come already.
struct Asking: Sendable {
    let enqueued: Enqueued
    /// What ``AlertManager/resolutionsSeen`` was before.
    let resolutionsBefore: UInt64
}

extension AlertManager {
    /// Stores an alert that has a delegate of its own, or none.
    nonisolated func enqueue(
        _ alert: Alert, _ delegate: (any AlertManagerDelegate)?
    ) async throws(AlertError) -> Asking {
        guard let delegate else { return try await enqueue(alert) }
        return try await ownDelegates.storing(with: delegate) { () async throws(AlertError) in
            try await enqueue(alert)
        } record: {
            $0.enqueued.record
        }
    }

    nonisolated func enqueue(_ alert: Alert) async throws(AlertError) -> Asking {
        guard !isClosed else { throw .closed }
        try alert.validate()
        let before = resolutionsSeen.load(ordering: .acquiring)
        let enqueued = try await store.enqueue(
            Question(alert: alert, source: alert.source ?? source, caller: caller))
        if enqueued.record.response == nil, let expiry = enqueued.expiry {
            await setAlarm(at: expiry)
        }
        return Asking(enqueued: enqueued, resolutionsBefore: before)
    }

    /// Lets the presentation loop have what was asked.
    nonisolated func offer(_ asking: Asking) {
        let isFresh = !asking.enqueued.isJoined && !mayHaveResponse(asking)
        fresh.put(isFresh ? asking.enqueued : nil, of: self)
    }

    /// Reports an alert that waits for a screen that is not there, where its asker may not expect
    /// that: the alert names its presenters, or has no button and somebody waits for it.
    nonisolated func reportIfUnattended(_ asking: Asking, isAwaited: Bool) {
        let record = asking.enqueued.record
        let wanted = record.alert.presenters
        guard record.response == nil, wanted != nil || (isAwaited && record.alert.buttons.isEmpty)
        else { return }
        if fresh.mayBeShown(on: wanted) { return }
        if let holder = store.slotHolder(), holder.isThere, holder.mayShow(on: wanted) { return }
        report(.unattended(record.id, presenters: wanted))
    }

    /// Whether the response may have come before anybody here waited for it.
    nonisolated func mayHaveResponse(_ asking: Asking) -> Bool {
        resolutionsSeen.load(ordering: .acquiring) != asking.resolutionsBefore
    }

    func keep(_ mine: AlertClosures, for asking: Asking) {
        let record = asking.enqueued.record
        if !mine.isEmpty, record.response?.collectedAt == nil {
            closures[record.id, default: []].append(mine)
            stayWhileNeeded()
        }
        follow(asking)
        offer(asking)
        if record.response != nil { settle(record) }
    }

    /// Sees to it that this manager hears of the alert's response, and keeps its deadline.
    private func follow(_ asking: Asking) {
        let enqueued = asking.enqueued
        let id = enqueued.record.id
        guard enqueued.record.response == nil, closures[id] != nil || watchers[id] != nil else {
            return
        }
        if let expiry = enqueued.expiry {
            deadlines[id] = expiry
            setAlarm(at: expiry)
        }
        if mayHaveResponse(asking) { Task { await self.lookAgain(at: id) } }
        listen(from: enqueued.sequence)
    }

    func response(to asking: Asking, isKept: Bool) async throws -> AlertRecord {
        if asking.enqueued.record.response != nil { return asking.enqueued.record }
        offer(asking)
        let id = asking.enqueued.record.id
        nextWatcher += 1
        let watcher = nextWatcher
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if isClosed {
                        continuation.resume(throwing: AlertError.closed)
                    } else if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        watchers[id, default: [:]][watcher] = continuation
                        follow(asking)
                    }
                }
            } onCancel: {
                Task { await self.stopWatching(id, watcher) }
            }
        } catch let error as CancellationError {
            if !isKept { await withdrawForCancelledTask(id) }
            throw error
        }
    }

    private func stopWatching(_ id: Alert.ID, _ watcher: UInt64) {
        let continuation = watchers[id]?.removeValue(forKey: watcher)
        if watchers[id]?.isEmpty == true { watchers[id] = nil }
        if watchers[id] == nil, closures[id] == nil { deadlines[id] = nil }
        continuation?.resume(throwing: CancellationError())
    }

    private func withdrawForCancelledTask(_ id: Alert.ID) async {
        do {
            let record = try await store.resolve(id, .withdraw(), by: caller)
            noteResolved(record)
        } catch {
            // Somebody answered first, or the disk failed: the task is gone, and the alert's
            // response, or the alert, can still be found by its id.
        }
    }

    /// Looks whether the response came before anybody here waited for it, until that is known: the
    /// log's news of it may have passed.
    private func lookAgain(at id: Alert.ID) async {
        while watchers[id] != nil || closures[id] != nil {
            do throws(AlertError) {
                // An expiry that nobody has stored is no response yet.
                let record = try await store.found(id).record
                if record.response != nil { noteResolved(record) }
                return
            } catch .inconsistent(let subject, let reason) {
                return refuse(id, .inconsistent(subject, reason))
            } catch {
                // The disk fails: it may not in a second.
                guard !isClosed, (try? await clock.sleep(for: .seconds(1))) != nil else { return }
            }
        }
    }
}
