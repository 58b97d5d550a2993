// One alert on the screen.
extension AlertManager {
    /// How long an alert without buttons may keep others waiting.
    private static let longestNotice = Duration.seconds(10)

    func show(
        _ record: AlertRecord, _ upcoming: Upcoming?, on lease: any SlotLease
    ) async -> ShowingEnd {
        // A slot that can't be written, though it is still there, is tried again later.
        guard lease.show(record.id, hasDelegate: delegate(of: record.id) != nil) else {
            return lease.isValid ? .lost : .waits
        }
        // More signals than presenters and timers can send before they are read.
        let (stream, signals) = AsyncStream.makeStream(
            of: ShowingSignal.self, bufferingPolicy: .bufferingOldest(256))
        let waiting = upcoming?.waiting ?? WaitingAlerts()
        let presentation = Presentation(
            record: record, waitingBehind: waiting.count, expiry: upcoming?.expiry,
            clock: clock, appeared: { [weak self] in await self?.noteAppearance(of: record.id) },
            dismissal: { [weak self] in await self?.timeUntilDismissal(of: record.id) },
            waiting: { [weak self] in await self?.lookBehind(record.id) ?? waiting })
        hasShownNotice = record.alert.buttons.isEmpty
        showing = Showing(
            record: record, presentation: presentation, signals: signals, waiting: waiting)
        // From here on what happens to the alert is not missed, however long this takes.
        if caller.isAsker(record.source), await ownDelegates.waitForArrivals() {
            _ = lease.show(record.id, hasDelegate: delegate(of: record.id) != nil)
        }
        await delegate(of: record.id)?.willPresent(record)
        for presenter in presenters where record.alert.presenters?.contains(presenter.name) ?? true
        {
            start(presenter)
        }
        if let expiry = upcoming?.expiry { setAlarm(at: expiry) }
        var iterator = stream.makeAsyncIterator()
        let end = await untilEnd(&iterator, lease)
        await clear(end, &iterator)
        return end
    }

    /// Who hears of an alert: the delegate that was given with it, else the manager's.
    func delegate(of id: Alert.ID) -> (any AlertManagerDelegate)? {
        guard let own = ownDelegates[id] else { return delegate }
        return own.delegate
    }

    private func untilEnd(
        _ signals: inout AsyncStream<ShowingSignal>.AsyncIterator, _ lease: any SlotLease
    ) async -> ShowingEnd {
        while let signal = await signals.next(isolation: self) {
            if let end = await react(to: signal) { return end }
        }
        return .waits
    }

    private func react(to signal: ShowingSignal) async -> ShowingEnd? {
        guard let showing else { return .waits }
        switch signal {
        case .chose(let name, let choice, let isOnScreen):
            if !isOnScreen { self.showing?.running[name] = nil }
            noteAppearance(of: showing.id)
            return await store(choice, of: showing.record, on: name)
        case .ended(let name, let error):
            return ended(name, showing.record, because: error)
        case .resolved(let record):
            return .resolved(record, chosenOn: nil)
        case .snoozed:
            let record = try? await store.record(showing.id)
            if let record, record.response != nil { return .resolved(record, chosenOn: nil) }
            self.showing?.snoozed = record
            return .waits
        case .dismissTimerFired:
            return await resolve(showing.record, .dismiss, on: nil)
        case .appeared:
            await tellAppearance()
        case .cancel(let authority):
            let isHandled = await delegate(of: showing.id)?.cancel(showing.record) == .handled
            return await resolve(
                showing.record, .cancel(handled: isHandled, authority), on: nil)
        case .leave(let reason):
            returned(showing.record, because: reason)
            return .waits
        case .graceOver, .told:
            break
        }
        return nil
    }

    /// Stores what a person did; a choice that can't be stored is shown again.
    private func store(
        _ choice: PresenterChoice, of record: AlertRecord, on name: String
    ) async -> ShowingEnd? {
        switch choice {
        case .button(let index):
            return await resolve(record, .choose(button: index), on: name)
        case .close where record.alert.buttons.isEmpty:
            return await resolve(record, .choose(button: nil), on: name)
        case .close, .later:
            let duration: Duration? = if case .later(let time) = choice { time } else { nil }
            do throws(AlertError) {
                let by = caller.through(name)
                showing?.snoozed = try await store.snooze(record.id, for: duration, by: by)
                return .waits
            } catch {
                return await failed(error, record, on: name)
            }
        }
    }

    private func resolve(
        _ record: AlertRecord, _ resolution: Resolution, on name: String?
    ) async -> ShowingEnd? {
        do throws(AlertError) {
            let by = name.map(caller.through) ?? caller
            let seen =
                name == nil
                ? nil : record.salt.map { AuditEntry.content(of: record.alert, salt: $0) }
            let resolved = try await store.resolve(record.id, resolution, seen: seen, by: by)
            return .resolved(resolved, chosenOn: name)
        } catch {
            return await failed(error, record, on: name)
        }
    }

    /// Decides what an error means for the screen: somebody else was first, or try again.
    private func failed(
        _ error: AlertError, _ record: AlertRecord, on name: String?
    ) async -> ShowingEnd? {
        switch error {
        case .alreadyResolved(let response), .late(let response):
            var resolved = record
            resolved.state = .resolved
            resolved.response = response
            return .resolved(resolved, chosenOn: nil)
        case .inconsistent:
            // Nothing that is chosen here can be stored; the others go on.
            refuse(record.id, error)
            returned(record, because: SafeText.line("\(error)"))
            return .lost
        case .noSuchButton, .notAsSeen, .invalid:
            // No second try makes it a choice that the alert has.
            return name.flatMap { ended($0, record, because: error) }
        default:
            if let name, showing?.running[name]?.run.fail(error) == true { return nil }
            if let presenter = presenters.first(where: { $0.name == name }) {
                start(presenter, after: error)
            }
            return nil
        }
    }

    /// A presenter can't show the alert any more; the others go on, if there are any.
    private func ended(
        _ name: String, _ record: AlertRecord, because error: any Error
    ) -> ShowingEnd? {
        if let (run, task) = showing?.running.removeValue(forKey: name) {
            // It may still wait with a choice that the alert does not have.
            run.leave()
            task.cancel()
        }
        if !(error is CancellationError) { report(.presenter(name: name, record.id, error)) }
        guard showing?.running.isEmpty == true else { return nil }
        returned(record, because: SafeText.line("\(error)"))
        return .lost
    }

    /// Notes that the alert is on the screen, if that is news.
    private func noteAppearance(of id: Alert.ID) {
        guard var showing, showing.id == id, !showing.isOnScreen, !showing.isLeaving else { return }
        let now = clock.now()
        showing.isOnScreen = true
        showing.record.state = .presented
        if showing.record.alert.buttons.isEmpty {
            let time = showing.record.alert.dismissAfter ?? .seconds(2)
            showing.dismissal = now.advanced(by: time)
            let first = now.advanced(by: min(time, Self.longestNotice))
            showing.dismissalForOthers = first
            showing.timer = Task { [weak self, clock, signals = showing.signals] in
                var end = first
                while (try? await clock.sleep(until: end)) != nil {
                    // Again and again, if it can't be stored the first time.
                    if await self?.mustDismiss(id) ?? true { signals.yield(.dismissTimerFired) }
                    guard let next = await self?.nextLookAtDismissal(of: id) else { return }
                    end = next
                }
            }
        }
        self.showing = showing
        let names = presenters.map(\.name).joined(separator: " ")
        store.recordPresented(showing.record, at: now, by: caller.through(names))
        if delegate(of: id) != nil { showing.signals.yield(.appeared) }
    }

    /// Tells a delegate that the alert is on the screen, once.
    func tellAppearance() async {
        guard let showing, showing.isOnScreen, !showing.isAppearanceTold else { return }
        self.showing?.isAppearanceTold = true
        await delegate(of: showing.id)?.didPresent(showing.record)
    }

    private func timeUntilDismissal(of id: Alert.ID) -> Duration? {
        guard let showing, showing.id == id,
            let end = showing.waiting.count > 0 ? showing.dismissalForOthers : showing.dismissal
        else { return nil }
        return clock.now().time(until: end)
    }

    /// When to look again whether a notice has to leave: each second, and at its own end.
    private func nextLookAtDismissal(of id: Alert.ID) -> ClockReading? {
        guard let showing, showing.id == id, let dismissal = showing.dismissal else { return nil }
        let now = clock.now()
        let left = now.time(until: dismissal)
        return now.advanced(by: left > .zero ? min(left, .seconds(1)) : .seconds(1))
    }

    /// Whether a notice has been there for its own time, or for as long as others let it.
    private func mustDismiss(_ id: Alert.ID) async -> Bool {
        guard let showing, showing.id == id, let dismissal = showing.dismissal else { return false }
        if clock.now().isAtOrAfter(dismissal) { return true }
        return await lookBehind(id).count > 0
    }

    /// How many alerts wait behind the one on the screen; as before, if that can't be read.
    private func lookBehind(_ id: Alert.ID) async -> WaitingAlerts {
        let waiting = try? await store.waiting(besides: id)
        guard showing?.id == id else { return waiting ?? WaitingAlerts() }
        if let waiting { showing?.waiting = waiting }
        return showing?.waiting ?? WaitingAlerts()
    }

    private func returned(_ record: AlertRecord, because reason: String) {
        store.recordReturned(record, because: reason, by: caller)
    }
}
