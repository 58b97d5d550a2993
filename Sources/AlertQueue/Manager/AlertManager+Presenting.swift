/// What the presentation loop waits for.
private enum PresentationWait: Sendable {
    /// The slot, or the end of a pause.
    case task(Task<Void, Never>)
    /// Something to show: the next change of ``AlertManager/pokes``.
    case poke(after: UInt64)
}

// The presentation loop: takes the slot, and shows one alert after the other.
extension AlertManager {
    /// How long to wait when every presenter has failed: longer each time, because whatever is
    /// wrong with a presenter may be so for long.
    private static let backoff = Backoff(longest: .seconds(60))
    /// Who holds the presentation slot, in whatever process; `nil` if nobody does.
    package nonisolated func slotHolder() -> SlotHolder? { store.slotHolder() }

    /// Starts showing alerts, as soon as no other process shows any.
    ///
    /// A manager that was opened with presenters does so already.
    ///
    /// ```swift
    /// let manager = try await AlertManager.shared()
    /// try await manager.startPresenting([try TerminalPresenter()])
    /// ```
    ///
    /// - Parameter presenters: Who shows alerts, all of them at once, in place of those that the
    ///   manager had.
    /// - Throws: ``AlertError/invalid(_:_:)`` for none, or a name that is wrong or given twice;
    ///   ``AlertError/closed``.
    public func startPresenting(_ presenters: [any AlertPresenter]) async throws(AlertError) {
        guard !presenters.isEmpty else { throw .invalid("presenters", "are missing") }
        try Self.check(presenters)
        await stopPresenting()
        guard !isClosed else { throw .closed }
        await startPresenting(presenters, only: nil)
    }

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
        fresh.beginPresenting(on: presenters.map(\.name), for: self)
        listen(from: store.knownSequence)
        let upkeep = keepTextIndex()
        presenting = Task { [weak self, pokes] in
            defer { upkeep.cancel() }
            while let wait = await self?.presentUntilIdle() {
                switch wait {
                case .task(let task): await task.value
                case .poke(let seen): await pokes.wait(after: seen)
                }
            }
            await self?.endPresenting()
        }
    }

    /// Takes what is shown off the screen, lets other processes show alerts, and returns when that
    /// is done.
    ///
    /// ```swift
    /// await manager.stopPresenting()
    /// ```
    ///
    /// What was on the screen waits again. A delegate must not wait for this: the manager waits for
    /// the delegate.
    public func stopPresenting() async {
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

    /// Shows what there is to show; returns what to wait for then, or `nil` at the end.
    ///
    /// The loop around it refers to the manager while this runs, and not while it waits.
    private func presentUntilIdle() async -> PresentationWait? {
        wait = nil
        while wantsToPresent {
            let seen = pokes.count
            guard canShow else {
                giveUpSlot()
                return .poke(after: seen)
            }
            guard let lease = takeSlot() else {
                // Whoever only waits for the end of the queue need not wait for the slot.
                if !idleWaiters.isEmpty, let upcoming = await nextToShow(), upcoming.record == nil {
                    wakeIdleWaiters()
                }
                fresh.releaseOwner(ifUnchangedSince: seen)
                return wantsToPresent ? wait(for: { [store] in await store.waitForSlot() }) : nil
            }
            guard await takeTurn() else { continue }
            let upcoming = await nextToShow()
            guard wantsToPresent else {
                // What is not on the screen yet can't be told to leave it.
                turn?.end()
                return nil
            }
            guard let record = upcoming?.record else {
                turn?.end()
                _ = lease.show(nil, hasDelegate: delegate != nil)
                // A database that could not be read is looked at again a second later.
                guard upcoming != nil else { return pause(for: .seconds(1)) }
                fresh.releaseOwner(ifUnchangedSince: seen)
                if let end = nextRestEnd {
                    // Another process may be able to show what rests here.
                    giveUpSlot()
                    return poke(after: seen, until: end)
                }
                wakeIdleWaiters()
                return .poke(after: seen)
            }
            let end = await show(record, upcoming, on: lease)
            turn?.end()
            if case .resolved = end {} else { emptySince = nil }
            guard case .lost = end else {
                failedShowings = 0
                resting[record.id] = nil
                continue
            }
            return pauseAfterFailure(with: record.id)
        }
        return nil
    }

    /// Lets others try what no presenter here could show.
    private func pauseAfterFailure(with id: Alert.ID) -> PresentationWait? {
        failedShowings += 1
        rest(id)
        giveUpSlot()
        let pause = Self.backoff.pause(after: failedShowings)
        // Whoever waits for the end of the queue is not to wait much longer than that takes.
        return self.pause(for: idleWaiters.isEmpty ? pause : min(pause, .seconds(1)))
    }

    /// Waits for something to show, until a moment at most.
    private func poke(after seen: UInt64, until end: ClockReading) -> PresentationWait {
        wait(for: { [clock, pokes] in
            await withTaskGroup { group in
                group.addTask { await pokes.wait(after: seen) }
                group.addTask { try? await clock.sleep(until: end) }
                await group.next()
                group.cancelAll()
            }
        })
    }

    private func endPresenting() {
        giveUpSlot()
        fresh.endPresenting()
        presenting = nil
        wakeIdleWaiters()
    }

    private func pause(for time: Duration) -> PresentationWait? {
        guard wantsToPresent else { return nil }
        let end = clock.now().advanced(by: time)
        // It ends early when presenting does.
        return wait(for: { [clock] in try? await clock.sleep(until: end) })
    }

    /// Waits for something that can be cut short when presenting ends.
    private func wait(for something: @escaping @Sendable () async -> Void) -> PresentationWait {
        let task = Task.detached { await something() }
        wait = task
        return .task(task)
    }

    /// Whether there is a presenter that can show something. One that does not take its alert off
    /// the screen can't, and must not keep the slot from those who can.
    private var canShow: Bool {
        !presenters.allSatisfy { stuckPresenters.contains($0.name) }
    }

    /// The slot, if this process has it or can have it now.
    private func takeSlot() -> (any SlotLease)? {
        if let lease, lease.isValid { return lease }
        giveUpSlot()
        let holder = SlotHolder(
            identity: caller.identity, presenters: presenters.map(\.name),
            hasDelegate: delegate != nil)
        // What is in the way now may not be in a second.
        lease = try? store.takeSlot(holder)
        return lease
    }

    private func giveUpSlot() {
        lease?.release()
        lease = nil
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
            var except = restingIDs
            var upcoming = try await look(names, except)
            if upcoming.needsSweep {
                try await store.sweep(atMost: .max)
                upcoming = try await look(names, except)
            }
            while true {
                for (id, error) in upcoming.refused.sorted(by: { $0.key < $1.key }) {
                    rest(id)
                    refuse(id, error)
                }
                // One look passes over a hundred; behind them others may wait.
                guard upcoming.record == nil, !upcoming.refused.isEmpty, !isClosed else { break }
                let before = except.count
                except = restingIDs
                guard except.count > before else { break }
                upcoming = try await look(names, except)
            }
            fresh.removeAll(upTo: upcoming.sequence)
            if upcoming.record == nil, except.isEmpty, upcoming.refused.isEmpty {
                emptySince = upcoming.sequence
            }
            return upcoming
        } catch {
            // The disk fails or is locked: looked at again with the next change or second.
            return nil
        }
    }

    /// Looks into the store. After a notice a question comes next, whatever its priority: notices
    /// that keep coming would hold it up for ever.
    private func look(
        _ names: [String], _ except: [Alert.ID]
    ) async throws(AlertError) -> Upcoming {
        try await store.next(
            for: names, only: presentsOnly, except: except, prefersQuestions: hasShownNotice)
    }

    private func wakeIdleWaiters() {
        let waiters = idleWaiters
        idleWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }
}
