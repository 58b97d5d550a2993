// Hearing what other processes do.
extension AlertManager {
    /// Follows the audit log from a sequence number, unless that is happening already.
    func listen(from sequence: Int64) {
        guard listener == nil, !isClosed else { return }
        cursor = sequence
        listener = Task { [weak self, store] in
            // While it waits, the manager is held by those who are interested, or by nobody.
            while let seen = await self?.followLog() { await store.waitForNews(after: seen) }
        }
    }

    private var hasInterest: Bool {
        !watchers.isEmpty || !closures.isEmpty || !handlers.isEmpty || wantsToPresent
    }

    /// Acts on what is new; returns the count of news to wait after, or `nil` when nobody is
    /// interested.
    private func followLog() async -> UInt64? {
        let seen = store.newsCount
        leaveIfSlotIsLost()
        if seen != newsFollowed {
            newsFollowed = seen
            // The end of a snooze has no entry in the log, and somebody else may have stored it.
            emptySince = nil
            pokes.change()
        }
        do throws(AlertError) {
            try await readNews()
            failingSince = nil
        } catch {
            // A disk that fails now is looked at again with the next change or second.
            giveUpIfLasting(error)
        }
        guard hasInterest, !isClosed else {
            listener = nil
            return nil
        }
        return seen
    }

    /// Clears the screen when the slot's file was deleted or replaced: others may show alerts now.
    private func leaveIfSlotIsLost() {
        guard let lease, !lease.isValid else { return }
        showing?.signals.yield(.leave(reason: "the slot was lost"))
        pokes.change()
    }

    /// Ends all waiting when the queue is no longer the one that was opened, or has not been
    /// readable for as long as a writer waits for its turn.
    private func giveUpIfLasting(_ error: AlertError) {
        let since = failingSince ?? clock.now()
        failingSince = since
        let isOver = clock.now().isAtOrAfter(since.advanced(by: .seconds(5)))
        if case .incompatible = error {} else { guard isOver else { return } }
        let waiting = watchers.values.flatMap(\.values)
        watchers.removeAll()
        for watcher in waiting { watcher.resume(throwing: error) }
        showing?.signals.yield(.leave(reason: "the queue can't be read"))
    }

    private func readNews() async throws(AlertError) {
        // What this process did itself has been acted upon already.
        cursor = store.endOfQuiet(after: cursor)
        var page: [AlertEvent]
        repeat {
            page = try await store.events(after: cursor, limit: 256, isChecked: false)
            for event in page {
                if let id = event.alertID { try await heard(event.kind, of: id) }
                cursor = max(cursor, event.sequence)
            }
        } while page.count == 256
        guard let showing, delegate(of: showing.id) != nil, !showing.isCancelling else { return }
        do throws(AlertError) {
            if try await store.isCancelRequested(showing.id) {
                cancelShown(showing.id, .requested)
            }
        } catch {
            guard case .inconsistent = error else { throw error }
            refuse(showing.id, error)
        }
    }

    /// Has the screen cancel what it shows; the delegate is asked once.
    func cancelShown(_ id: Alert.ID, _ authority: Resolution.Authority) {
        guard showing?.id == id, showing?.isCancelling == false else { return }
        showing?.isCancelling = true
        showing?.signals.yield(.cancel(authority))
    }

    private func heard(_ kind: AlertEvent.Kind, of id: Alert.ID) async throws(AlertError) {
        switch kind {
        case .resolved:
            resting[id] = nil
            if showing?.id != id { ownDelegates.remove(id) }
            let isAwaited = watchers[id] != nil || closures[id] != nil || showing?.id == id
            guard isAwaited || !handlers.isEmpty else {
                resolutionsSeen.add(1, ordering: .releasing)
                return
            }
            do throws(AlertError) {
                noteResolved(try await store.record(id))
            } catch {
                guard case .inconsistent = error else { throw error }
                refuse(id, error)
            }
        case .snoozed:
            noteSnoozed(id)
        case .asked:
            pokes.change()
        case .presented, .returned, .cancelling, .collected, .erased, .restored, .ran, .access,
            .reminded, .seen:
            break
        }
    }

    /// Takes a snoozed alert off the screen, and keeps the end of its snooze.
    func noteSnoozed(_ id: Alert.ID) {
        if showing?.id == id { showing?.signals.yield(.snoozed) }
        pokes.change()
        Task { await self.keepTime() }
    }

    /// Passes a response on: to the screen that shows the alert, else to those who wait for it.
    func noteResolved(_ record: AlertRecord) {
        if let showing, showing.id == record.id {
            guard !showing.isLeaving else {
                self.showing?.late = record
                return
            }
            showing.signals.yield(.resolved(record))
        } else {
            settle(record)
        }
    }

    /// Tells those who wait for a response that it can't be trusted.
    func refuse(_ id: Alert.ID, _ error: AlertError) {
        for watcher in (watchers.removeValue(forKey: id) ?? [:]).values {
            watcher.resume(throwing: error)
        }
        report(.inconsistent(id, error))
        if showing?.id == id {
            showing?.signals.yield(.leave(reason: SafeText.line("\(error)")))
        }
    }

    /// Hands a response to those who wait for it in this process.
    func settle(_ record: AlertRecord) {
        let id = record.id
        fresh.remove(id)
        resting[id] = nil
        // Also where somebody waits: another may be about to.
        resolutionsSeen.add(1, ordering: .releasing)
        deadlines[id] = nil
        ownDelegates.remove(id)
        for watcher in (watchers.removeValue(forKey: id) ?? [:]).values {
            watcher.resume(returning: record)
        }
        if closures[id] != nil {
            runClosures(of: record)
        } else if let name = record.alert.handler {
            offer(id, to: name)
        }
    }
}
