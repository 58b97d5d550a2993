// Notifying delegates of this manager's own alerts on other screens.
extension AlertManager {
    /// Called when the log reports that an alert has appeared on another screen.
    func hearPresented(_ id: Alert.ID) async {
        // This manager may just have asked it.
        if context.delegates.ofOwn(id) == nil { _ = await context.delegates.waitForArrivals() }
        guard let delegate = context.delegates.ofOwn(id) else { return }
        // This manager's own screen notifies it, even if the alert has yet to appear there.
        if let show = await presentation.show, show.id == id { return show.hearAppeared() }
        guard context.delegates.beginsPresentation(of: id) else { return }
        context.delegates.calls.add(for: id) { [store = context.store] in
            // If the alert can't be read or contradicts the log, the calls that wait for it get
            // the error.
            guard var record = try? await store.record(id) else { return }
            (record.state, record.response) = (.presented, nil)
            await delegate.didPresent(record)
        }
    }

    /// Called when the log reports that no screen shows a waiting alert any longer.
    func hearReturned(_ id: Alert.ID) async {
        if await presentation.show?.id != id { tellDismissed(id) }
    }

    /// Notifies a delegate that an alert has left the other screens and waits again.
    func tellDismissed(_ id: Alert.ID) {
        guard let delegate = context.delegates.ofOwn(id),
            context.delegates.endsPresentation(of: id)
        else { return }
        context.delegates.calls.add(for: id) { [store = context.store] in
            guard var record = try? await store.record(id) else { return }
            record.response = nil
            await delegate.didDismiss(record, withButtonAt: -1)
        }
    }

    /// Notifies a delegate of how an alert ended on other screens.
    static func tell(
        _ delegate: any AlertManagerDelegate, of record: AlertRecord, in context: QueueContext
    ) async {
        // It may have been answered without having been on a screen, or after it had left.
        guard let response = record.response, record.presentedAt != nil,
            !context.delegates.hasReturned(record.id)
        else { return }
        if response.isClick {
            // The log's entry for its appearance may not have been read yet.
            if context.delegates.beginsPresentation(of: record.id) {
                var shown = record
                (shown.state, shown.response) = (.presented, nil)
                await delegate.didPresent(shown)
            }
            await delegate.clicked(record, buttonAt: response.buttonIndex)
        }
        if context.delegates.endsPresentation(of: record.id) {
            await delegate.didDismiss(record, withButtonAt: response.buttonIndex)
        }
    }
}
