// The presentation loop: takes the slot, and shows one alert after the other.
extension AlertManager {
    /// Who holds the presentation slot, in whatever process; `nil` if nobody does.
    package nonisolated func slotHolder() -> SlotHolder? { store.slotHolder() }

    /// Starts showing alerts as soon as the slot is free; `only` limits that to one alert.
    package func startPresenting(
        _ presenters: [any AlertPresenter], only: Alert.ID?
    ) async {
        // A stop that is under way comes to its end first.
        if !wantsToPresent { await presenting?.value }
        guard presenting == nil, !isClosed, !presenters.isEmpty else { return }
        self.presenters = presenters
        presentsOnly = only
        emptySince = nil
        wantsToPresent = true
        listen(from: store.knownSequence)
        presenting = Task { await self.present() }
    }

    /// Takes what is shown off the screen, gives the slot up, and returns when that is done.
    package func stopPresenting() async {
        guard let presenting else { return }
        wantsToPresent = false
        wait?.cancel()
        showing?.signals.yield(.leave(reason: "the presenter stopped"))
        pokes.change()
        await presenting.value
    }

    /// Waits until there is nothing left to show.
    package func presentedAll() async {
        guard wantsToPresent else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                guard !Task.isCancelled else { return waiter.resume() }
                idleWaiters.append(waiter)
                // A loop that has found nothing already would not look before something happens.
                pokes.change()
            }
        } onCancel: {
            Task { await wakeIdleWaiters() }
        }
    }

    private func present() async {
        let upkeep = Task { [weak self] in await self?.keepTextIndex() }
        defer { upkeep.cancel() }
        while wantsToPresent {
            guard let lease = await takeSlot() else { continue }
            self.lease = lease
            let hasFailed = await presentAll(on: lease)
            self.lease = nil
            lease.release()
            // Another process may be luckier; this one tries again later.
            if hasFailed, wantsToPresent { try? await clock.sleep(for: .seconds(1)) }
        }
        presenting = nil
        wakeIdleWaiters()
    }

    private func takeSlot() async -> (any SlotLease)? {
        let holder = SlotHolder(
            identity: identity, presenters: presenters.map(\.name), hasDelegate: delegate != nil)
        while wantsToPresent {
            if let lease = try? store.takeSlot(holder) { return lease }
            // Whoever only waits for the end of the queue need not wait for the slot.
            if !idleWaiters.isEmpty, let upcoming = await nextToShow(), upcoming.record == nil {
                wakeIdleWaiters()
            }
            guard wantsToPresent else { break }
            let wait = Task { [store] in await store.waitForSlot() }
            self.wait = wait
            await wait.value
            self.wait = nil
        }
        return nil
    }

    /// Shows alerts until the slot is lost or presenting ends; returns whether every presenter
    /// failed.
    private func presentAll(on lease: any SlotLease) async -> Bool {
        while wantsToPresent, lease.isValid {
            let seen = pokes.count
            guard await takeTurn() else { continue }
            let upcoming = await nextToShow()
            guard let record = upcoming?.record else {
                turn?.end()
                _ = lease.show(nil)
                // What could not be read may well hold something to show.
                if upcoming != nil { wakeIdleWaiters() }
                // A database that could not be read is looked at again a second later.
                await waitForWork(
                    after: seen, atMost: upcoming == nil ? .seconds(1) : upcoming?.wakeAfter)
                continue
            }
            let end = await show(record, upcoming, on: lease)
            turn?.end()
            if case .resolved = end {} else { emptySince = nil }
            if case .lost = end { return true }
        }
        return false
    }

    /// Waits for the screen that is shared with other managers; `false` if presenting ended first.
    private func takeTurn() async -> Bool {
        guard let turn else { return true }
        let taking = Task { await turn.take() }
        wait = Task {
            await withTaskCancellationHandler {
                _ = await taking.value
            } onCancel: {
                taking.cancel()
            }
        }
        defer { wait = nil }
        return await taking.value
    }

    /// The next alert, if that can be known without looking: nothing waited before, and nothing has
    /// happened since but one question of this manager, or none.
    private func nextWithoutLooking() -> Upcoming? {
        guard let empty = emptySince, presentsOnly == nil, stuckPresenters.isEmpty,
            let asked = fresh.take(after: empty), asked.count <= 1, store.isQuiet(since: empty)
        else { return nil }
        let names = Set(presenters.map(\.name))
        let next = asked.first
        if let wanted = next?.record.alert.presenters, names.isDisjoint(with: wanted) {
            return nil
        }
        return Upcoming(record: next?.record, expiry: next?.expiry, sequence: empty)
    }

    /// The next alert; what is overdue or back from a snooze is stored first.
    private func nextToShow() async -> Upcoming? {
        if let upcoming = nextWithoutLooking() { return upcoming }
        emptySince = nil
        let names = presenters.map(\.name).filter { !stuckPresenters.contains($0) }
        do throws(AlertError) {
            var upcoming = try await store.next(for: names, only: presentsOnly)
            if upcoming.needsSweep {
                try await store.sweep(atMost: .max)
                upcoming = try await store.next(for: names, only: presentsOnly)
            }
            fresh.removeAll(upTo: upcoming.sequence)
            if upcoming.record == nil, upcoming.wakeAfter == nil { emptySince = upcoming.sequence }
            return upcoming
        } catch {
            // The disk fails or is locked: looked at again with the next change or second.
            return nil
        }
    }

    /// Waits for news, or for the end of a time, such as a snooze.
    private func waitForWork(after seen: UInt64, atMost limit: Duration?) async {
        guard wantsToPresent else { return }
        let alarm = limit.map { limit in
            Task { [clock, pokes] in
                // Cancelled when something else ends the wait first.
                try? await clock.sleep(for: limit)
                pokes.nudge()
            }
        }
        await pokes.wait(after: seen)
        alarm?.cancel()
    }

    private func wakeIdleWaiters() {
        let waiters = idleWaiters
        idleWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }
}
