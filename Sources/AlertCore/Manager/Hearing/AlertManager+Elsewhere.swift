// What delegates hear of this manager's own alerts on other screens.
extension AlertManager {
    /// Hears from the log that an alert has appeared on another screen.
    func hearPresented(_ id: Alert.ID) async {
        // It may just have been asked here.
        if context.delegates.ofOwn(id) == nil { _ = await context.delegates.waitForArrivals() }
        // This manager's own screen reports it.
        guard await presentation.show?.id != id, let delegate = context.delegates.ofOwn(id),
            context.delegates.beginsPresentation(of: id)
        else { return }
        context.delegates.calls.add(for: id) { [store = context.store] in
            // An alert that can't be read, or that contradicts the log, is reported to those who
            // wait for it.
            guard var record = try? await store.record(id) else { return }
            (record.state, record.response) = (.presented, nil)
            await delegate.didPresent(record)
        }
    }

    /// Hears from the log that no screen shows an alert any more, though it still waits.
    func hearReturned(_ id: Alert.ID) async {
        if await presentation.show?.id != id { tellDismissed(id) }
    }

    /// Tells a delegate that an alert has left the other screens, and waits again.
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

    /// Tells a delegate how an alert ended on other screens.
    static func tell(
        _ delegate: any AlertManagerDelegate, of record: AlertRecord, in context: QueueContext
    ) async {
        // Others may have answered what was on no screen.
        guard let response = record.response, record.presentedAt != nil else { return }
        if response.isClick {
            // The log's entry of its appearance may not have been read yet.
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
