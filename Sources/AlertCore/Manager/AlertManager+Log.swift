import TextFormats

// Following the log for the actions of others, while anything here depends on them, and passing on
// responses.

/// How far a manager has followed the log.
struct LogReading {
    /// How long the log may be unreadable before the calls that wait for a response get the error, and
    /// the screen is cleared. A server that is away only clears the screen.
    static let patience = Duration.seconds(5)

    var task: Task<Void, Never>?
    /// When reading the log began to fail.
    var failingSince: ClockReading?
}

extension AlertManager {
    /// Follows the log from an entry on, unless it is already being followed.
    ///
    /// It goes on for as long as anything depends on it; see ``isInterestedInLog``.
    func follow(from head: AuditHead) {
        guard log.task == nil, !isClosed else { return }
        log.failingSince = nil
        log.task = Task { [weak self, store] in
            var position = LogPosition(head)
            while !Task.isCancelled {
                // While it waits, this task does not keep the manager alive.
                let news: Result<News, AlertError>
                do throws(AlertError) {
                    news = .success(try await store.news(after: position, of: .others))
                } catch {
                    news = .failure(error)
                }
                guard let (next, isFailing) = await self?.note(news, after: position) else {
                    return
                }
                position = next
                // If the disk fails, try again in a second.
                if isFailing { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    /// Acts on the news; returns where to continue, and whether that failed, or `nil` if nothing
    /// depends on the log any longer.
    private func note(
        _ news: Result<News, AlertError>, after position: LogPosition
    ) async -> (LogPosition, isFailing: Bool)? {
        guard !isClosed else { return nil }
        var (position, isFailing) = (position, false)
        do throws(AlertError) {
            let news = try news.get()
            if news.hasChanged { feed(.queueChanged) }
            for event in news.events {
                if let id = event.alertID { try await note(event.kind, of: id) }
                position = LogPosition(event.cursor)
            }
            position = news.position
            log.failingSince = nil
            // What was overdue while the server was away is stored in a moment.
            if let error = news.cannotExpire, !error.isServerAway { await failOverdue(error) }
        } catch {
            isFailing = true
            giveUpIfLasting(error)
        }
        guard isInterestedInLog, !isClosed else {
            log.task = nil
            return nil
        }
        return (position, isFailing)
    }

    /// Whether anything here depends on the actions of others.
    var isInterestedInLog: Bool {
        !waiters.isEmpty || !handlers.isEmpty || context.delegates.hasOwn || screen.isOn
    }

    /// Ends all waits if the queue is no longer the one that was opened, or has been unreadable for
    /// as long as a writer waits for the lock; but not because its server is away: what is stored there
    /// is not lost, and neither is anything by waiting.
    private func giveUpIfLasting(_ error: AlertError) {
        let now = context.clock.now()
        let since = log.failingSince ?? now
        log.failingSince = since
        let isOver = now.isAtOrAfter(since.advanced(by: LogReading.patience))
        if case .incompatible = error {} else { guard isOver else { return } }
        if !error.isServerAway { waiters.failAll(with: error) }
        if case .incompatible = error { feed(.failed(error)) }
        feed(.leave(nil, because: .reason(.unreadable)))
    }

    /// Ends the waits for alerts whose expiries could not be stored for some seconds: these calls
    /// must not wait forever, nor treat the alert as expired.
    private func failOverdue(_ error: AlertError) async {
        for id in waiters.ids {
            guard let found = try? await store.find(.id(id)), found.isOverdue,
                let left = found.timeLeft, left <= .zero - LogReading.patience
            else { continue }
            waiters.fail(id, with: error)
        }
    }

    private func note(_ kind: AlertEvent.Kind, of id: Alert.ID) async throws(AlertError) {
        do throws(AlertError) {
            try await react(to: kind, of: id)
        } catch {
            guard case .inconsistent = error else { throw error }
            refuse(id, error)
        }
    }

    private func react(to kind: AlertEvent.Kind, of id: Alert.ID) async throws(AlertError) {
        switch kind {
        case .resolved: try await noteResolution(of: id)
        case .presented: await hearPresented(id)
        case .snoozed: feed(.snoozed(id))
        case .returned: notifyReturned(id)
        case .asked: feed(.queueChanged)
        case .cancelling: try await noteCancelRequest(for: id)
        case .claimed, .released, .collected, .erased, .restored, .ran, .moved, .superseded,
            .clock, .other:
            break
        }
    }

    private func noteResolution(of id: Alert.ID) async throws(AlertError) {
        feed(.changed(id))
        // This manager may be storing it right now, and not know its delegate yet.
        if context.delegates.ofOwn(id) == nil { await context.delegates.waitForArrivals() }
        if screen.shown != id, context.delegates.ofOwn(id) == nil {
            context.delegates.remove(id)
            guard isAwaited(id) else { return waiters.sawResolution() }
        }
        passOn(try await store.record(id))
    }

    /// Carries out a cancel that another process requested of the screen that shows the alert.
    private func noteCancelRequest(for id: Alert.ID) async throws(AlertError) {
        guard screen.shown == id, context.delegates[id] != nil else { return }
        if try await store.find(.id(id)).isCancelRequested { feed(.cancel(id, .requested)) }
    }
}

// MARK: - Responses

extension AlertManager {
    /// Looks for a response that came before anybody here waited for it, until the read succeeds:
    /// the log's entry may already have been read.
    func lookAgain(at id: Alert.ID) async {
        while !isClosed, isAwaited(id) {
            do throws(AlertError) {
                let found = try await store.find(.id(id))
                // An expiry that is not stored is not a response yet.
                if found.record.response != nil, !found.isOverdue {
                    passOn(found.record)
                }
                return
            } catch .inconsistent(let subject, let reason) {
                return refuse(id, .inconsistent(subject, reason))
            } catch {
                // The disk fails: try again in a second.
                guard (try? await context.clock.sleep(for: .seconds(1))) != nil else { return }
            }
        }
    }

    /// Passes on how an alert has ended, by whomever: to the screen, which may show it and passes it
    /// on when the alert has left it; without a screen, to its delegate and then to those who wait.
    func passOn(_ record: AlertRecord) {
        if screen.isOff { notifyResolved(record) } else { feed(.resolved(record)) }
    }

    private func isAwaited(_ id: Alert.ID) -> Bool {
        waiters.count(for: id) > 0 || handlers.mayWait(for: id)
    }

    /// Delivers a response to the calls and closures that wait for it in this process.
    func settle(_ record: AlertRecord) {
        context.delegates.remove(record.id)
        waiters.settle(record)
        tellHandlers(.resolved(record, isOwn: context.mayCollect(record)))
    }

    /// Notifies the calls that wait for a response that it can't be trusted.
    func refuse(_ id: Alert.ID, _ error: AlertError) {
        waiters.fail(id, with: error)
        context.errors.report(.inconsistent(id, error))
        feed(.leave(id, because: .failed(error)))
    }
}
