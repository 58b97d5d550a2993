// The presenters that show the current alert, and how it leaves their screens.
extension AlertManager {
    /// How long a presenter may take to clear its screen.
    private static let grace = Duration.seconds(2)

    /// Has a presenter show the alert; after a choice of its own that could not be stored, it hears
    /// of that, and shows the alert again a second later.
    func start(_ presenter: any AlertPresenter, after failure: AlertError? = nil) {
        guard let showing, !stuckPresenters.contains(presenter.name) else { return }
        let (name, signals) = (presenter.name, showing.signals)
        let run = PresenterRun(of: name, signals)
        let presentation = showing.presentation.handingOver(to: run)
        let task = Task.detached { [clock] in
            var failure = failure
            repeat {
                do {
                    if let failure {
                        let end = clock.now().advanced(by: .seconds(1))
                        await presenter.didFail(presentation, error: failure)
                        try await clock.sleep(until: end)
                    }
                    let choice = try await presenter.present(presentation)
                    failure = run.takeFailure()
                    if !run.hasChosen, failure == nil {
                        signals.yield(.chose(presenter: name, choice, isOnScreen: false))
                    } else if failure == nil {
                        signals.yield(.ended(presenter: name, because: CancellationError()))
                    }
                } catch {
                    failure = run.takeFailure()
                    if failure == nil { signals.yield(.ended(presenter: name, because: error)) }
                }
            } while failure != nil
            await self.ended(run, of: name)
        }
        self.showing?.running[name] = (run, task)
    }

    /// Notes the end of a presenter's task, after the signal that says the same: while the screens
    /// are cleared, what has ended does not count as stuck, in whatever order signals are read.
    private func ended(_ run: PresenterRun, of name: String) {
        if showing?.isLeaving == true, showing?.running[name]?.run === run {
            showing?.running[name] = nil
        }
        guard stuckPresenters.remove(name) != nil else { return }
        emptySince = nil
        pokes.change()
    }

    /// Takes the alert off every screen, and tells everybody in the documented order.
    func clear(
        _ end: ShowingEnd, _ signals: inout AsyncStream<ShowingSignal>.AsyncIterator
    ) async {
        showing?.isLeaving = true
        await tellAppearance()
        guard let showing else { return }
        let (record, chosenOn): (AlertRecord, String?) =
            if case .resolved(let record, let name) = end { (record, name) } else {
                (showing.record, nil)
            }
        let response = record.response
        let index = response?.buttonIndex ?? -1
        if response?.isClick == true {
            await delegate(of: record.id)?.clicked(record, buttonAt: index)
        }
        await delegate(of: record.id)?.willDismiss(record, withButtonAt: index)
        showing.timer?.cancel()
        for (run, task) in (self.showing?.running ?? [:]).values {
            run.leave()
            task.cancel()
        }
        await waitForPresenters(&signals)
        if let response {
            tell { presenter, presentation in
                await presenter.didResolve(
                    presentation, response: response, choseHere: presenter.name == chosenOn)
            }
            await waitForPresenters(&signals)
        } else if let end = showing.snoozed?.snoozedUntil {
            tell { presenter, presentation in
                await presenter.didSnooze(presentation, until: end)
            }
            await waitForPresenters(&signals)
        }
        showing.signals.finish()
        while let signal = await signals.next(isolation: self) {
            if case .resolved(let late) = signal { self.showing?.late = late }
        }
        await delegate(of: record.id)?.didDismiss(record, withButtonAt: index)
        let late = self.showing?.late
        self.showing = nil
        if response != nil {
            settle(record)
        } else if let late {
            settle(late)
        }
    }

    /// Tells every presenter that may show the alert what became of it.
    private func tell(
        _ body: @escaping @Sendable (any AlertPresenter, Presentation) async -> Void
    ) {
        guard let showing else { return }
        for presenter in presenters
        where showing.record.alert.presenters?.contains(presenter.name) ?? true
            && !stuckPresenters.contains(presenter.name)
        {
            let (name, presentation, signals) = (
                presenter.name, showing.presentation, showing.signals
            )
            let run = PresenterRun(of: name, signals)
            let task = Task.detached {
                await body(presenter, presentation)
                signals.yield(.told(presenter: name))
                await self.ended(run, of: name)
            }
            self.showing?.running[name] = (run, task)
        }
    }

    /// Waits for the presenters' tasks; one that takes too long is left out until it ends.
    private func waitForPresenters(
        _ signals: inout AsyncStream<ShowingSignal>.AsyncIterator
    ) async {
        guard let sender = showing?.signals, showing?.running.isEmpty == false else { return }
        let end = clock.now().advanced(by: Self.grace)
        let alarm = Task { [clock] in
            guard (try? await clock.sleep(until: end)) != nil else { return }
            sender.yield(.graceOver)
        }
        defer { alarm.cancel() }
        while showing?.running.isEmpty == false,
            let signal = await signals.next(isolation: self)
        {
            switch signal {
            case .chose(_, _, isOnScreen: true):
                // Too late: somebody else was first.
                break
            case .chose(let name, _, _), .ended(let name, _), .told(let name):
                showing?.running[name] = nil
            case .resolved(let record):
                showing?.late = record
            case .graceOver:
                stuckPresenters.formUnion(showing?.running.keys.map(\.self) ?? [])
                showing?.running.removeAll()
                return
            default:
                break
            }
        }
    }
}
