// Calling delegates: those of the screen, and those of own alerts on other screens.

/// A call of a delegate that has its place in line.
struct DelegateCall {
    let id: Alert.ID
    let callback: Callback
    let delegate: any AlertManagerDelegate
    /// What is done when it has passed; once.
    var next: Next?

    enum Next {
        /// The screen goes on.
        case screen(Int)
        /// The calls and closures that wait get the response.
        case settle(AlertRecord)
        case answer(OneShot<Bool>)
    }

    /// The call of a delegate in which a task runs.
    struct Running: Sendable {
        let manager: ObjectIdentifier
        let number: Int
    }

    /// A task that the call starts inherits it.
    @TaskLocal static var running: Running?
}

extension AlertManager {
    /// Notes that a task is about to wait for what may wait for a delegate: if it runs in a call of
    /// one, the others go on as if that had returned.
    nonisolated func noteWaitInCallback() {
        guard let call = DelegateCall.running, call.manager == ObjectIdentifier(self) else {
            return
        }
        Task { await handleDelegateCall(.reentered(call.number)) }
    }

    /// Makes calls of an alert's delegate, one after another, and then tells the screen.
    func notify(_ number: Int, _ id: Alert.ID, _ callbacks: [Callback]) {
        let callbacks = callbacks.filter { callback in
            if callback.isForOwn, context.delegates.ofOwn(id) == nil { return false }
            return callback.kind != .didPresent || context.delegates.beginsPresentation(of: id)
        }
        guard let delegate = context.delegates[id] else {
            return feed(.passed(number, isHandled: false))
        }
        add(callbacks, of: id, to: delegate, then: .screen(number))
    }

    /// Notifies the delegate that an alert has left the screen, unless it may be on others: an
    /// asker's delegate is notified of these, too.
    func notifyDismissed(_ number: Int, _ record: AlertRecord, mayGoOn: Bool) async {
        let id = record.id
        if mayGoOn, context.delegates.ofOwn(id) != nil,
            await announce().others?.shows(id) == true
        {
            return feed(.passed(number, isHandled: false))
        }
        context.delegates.endsPresentation(of: id)
        notify(number, id, [Callback(.didDismiss, record)])
    }

    /// Asks the delegate of an alert that is on no screen whether it handles a cancel; one that
    /// does not respond in time does not.
    func isCancelHandled(_ record: AlertRecord) async -> Bool {
        guard let delegate = context.delegates[record.id] else { return false }
        let isHandled = OneShot<Bool>()
        add([Callback(.cancel, record)], of: record.id, to: delegate, then: .answer(isHandled))
        return await isHandled.value()
    }

    /// Waits for all calls that have been added.
    func waitForDelegates() async {
        var waits: [OneShot<Bool>] = []
        var seen: Set<ObjectIdentifier> = []
        for call in callsInLine.values where seen.insert(ObjectIdentifier(call.delegate)).inserted {
            let wait = OneShot<Bool>()
            waits.append(wait)
            add([], of: call.id, to: call.delegate, then: .answer(wait))
        }
        for wait in waits { _ = await wait.value() }
    }
}

// MARK: - Own alerts on other screens

extension AlertManager {
    /// Called when the log reports that an alert has appeared on another screen.
    func hearPresented(_ id: Alert.ID) async {
        // This manager may be storing it right now, and not know its delegate yet.
        if context.delegates.ofOwn(id) == nil { await context.delegates.waitForArrivals() }
        guard let delegate = context.delegates.ofOwn(id) else { return }
        // This manager's own screen notifies it, even if the alert has yet to appear there.
        if screen.shown == id { return feed(.appearedElsewhere(id)) }
        guard context.delegates.beginsPresentation(of: id) else { return }
        add([Callback(.didPresent, nil)], of: id, to: delegate, then: nil)
    }

    /// Notifies a delegate that no screen shows its alert any longer, which waits again.
    func notifyReturned(_ id: Alert.ID) {
        guard screen.shown != id, let delegate = context.delegates.ofOwn(id),
            context.delegates.endsPresentation(of: id)
        else { return }
        add([Callback(.didDismiss, nil)], of: id, to: delegate, then: nil)
    }

    /// Notifies a delegate of how an alert ended on other screens, and then the calls and closures
    /// that wait for its response.
    func notifyResolved(_ record: AlertRecord) {
        let (id, delegates) = (record.id, context.delegates)
        guard let delegate = delegates.ofOwn(id), let response = record.response else {
            return settle(record)
        }
        var callbacks: [Callback] = []
        // It may have been answered without having been on a screen, or after it had left.
        if record.presentedAt != nil, !delegates.hasReturned(id) {
            if response.isClick {
                // The log's entry for its appearance may not have been read yet.
                if delegates.beginsPresentation(of: id) {
                    callbacks.append(Callback(.didPresent, record.onScreen))
                }
                callbacks.append(Callback(.clicked, record))
            }
            if delegates.endsPresentation(of: id) {
                callbacks.append(Callback(.didDismiss, record))
            }
        }
        add(callbacks, of: id, to: delegate, then: .settle(record))
    }
}

// MARK: - The line

extension AlertManager {
    private func add(
        _ callbacks: [Callback], of id: Alert.ID, to delegate: any AlertManagerDelegate,
        then next: DelegateCall.Next?
    ) {
        let callbacks = callbacks.isEmpty ? [Callback(.nothing, nil)] : callbacks
        for (index, callback) in callbacks.enumerated() {
            let number = nextNumber()
            callsInLine[number] = DelegateCall(
                id: id, callback: callback, delegate: delegate,
                next: index == callbacks.count - 1 ? next : nil)
            handleDelegateCall(.add(number, to: ObjectIdentifier(delegate)))
        }
    }

    func handleDelegateCall(_ event: DelegateCalls.Event) {
        for effect in delegateCalls.handle(event, at: context.clock.now()) {
            switch effect {
            case .begin(let number): begin(number)
            case .passed(let number, let isHandled): passed(number, isHandled: isHandled)
            case .reportSilence(let number):
                guard let call = callsInLine[number] else { break }
                context.errors.report(
                    .delegate(
                        call.id, "\(type(of: call.delegate)).\(call.callback.kind.rawValue)",
                        silentFor: DelegateCalls.patience))
            case .forget(let number): callsInLine[number] = nil
            }
        }
        update()
    }

    private func begin(_ number: Int) {
        guard let call = callsInLine[number] else { return }
        // A place in line without a call is over at once.
        if call.callback.kind == .nothing {
            return handleDelegateCall(.returned(number, isHandled: false))
        }
        let running = DelegateCall.Running(manager: ObjectIdentifier(self), number: number)
        let store = store
        Task(executorPreference: CallbackExecutor.shared) { [weak self] in
            var isHandled = false
            // If the alert can't be read or contradicts the log, the calls that wait for it get the
            // error.
            if let record = await Self.record(for: call, store) {
                isHandled = await DelegateCall.$running.withValue(running) {
                    await call.callback.call(call.delegate, record)
                }
            }
            await self?.handleDelegateCall(.returned(number, isHandled: isHandled))
        }
    }

    private nonisolated static func record(
        for call: DelegateCall, _ store: any AlertStore
    ) async -> AlertRecord? {
        if let record = call.callback.record { return record }
        guard var record = try? await store.record(call.id) else { return nil }
        if call.callback.kind == .didPresent { return record.onScreen }
        record.response = nil
        return record
    }

    private func passed(_ number: Int, isHandled: Bool) {
        switch callsInLine[number]?.next.take() {
        case .screen(let effect)?: feed(.passed(effect, isHandled: isHandled))
        case .settle(let record)?: settle(record)
        case .answer(let answer)?: answer.deliver(isHandled)
        case nil: break
        }
    }
}
