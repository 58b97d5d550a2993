/// The current alert while the leading screen can't show it itself.
actor ShownElsewhere: QueueActor {
    /// How long an alert may be on no screen before the next one gets its turn.
    private static let patience = Duration.seconds(3)
    /// How long a screen may claim to show it before it has appeared there.
    static let patienceWithClaim = Duration.seconds(10)

    private struct Shown {
        let id: Alert.ID
        /// When it became current.
        let start: ClockReading
        /// When it was last known to be on a screen, or became current.
        var lastSeen: ClockReading
        var wasShown = false
        /// Dismisses an alert without buttons once it is on a screen.
        var notice: NoticeTimer?
    }

    nonisolated let context: QueueContext
    private var shown: Shown?

    init(in context: QueueContext) { self.context = context }

    deinit { shown?.notice?.cancel() }

    /// The current alert, if others are to show it.
    var id: Alert.ID? { shown?.id }

    /// Leaves an alert to other screens, which may already show it; `false` if none of them does.
    ///
    /// - Parameter dismissed: Called when an alert without buttons was dismissed.
    func keep(
        _ record: AlertRecord, on others: ScreenRoster,
        dismissed: @escaping @Sendable (AlertRecord) async -> Void
    ) -> Bool {
        let now = context.clock.now()
        if shown?.id != record.id { end() }
        var current = shown ?? Shown(id: record.id, start: now, lastSeen: now)
        let hasAppeared =
            record.presentedAt != nil
            || !now.isAtOrAfter(current.start.advanced(by: Self.patienceWithClaim))
        if others.shows(record.id), hasAppeared {
            (current.wasShown, current.lastSeen) = (true, now)
        } else if !others.canShow(record.alert, record.id)
            || now.isAtOrAfter(current.lastSeen.advanced(by: Self.patience))
        {
            if current.wasShown {
                let note = Note.returned(record, because: "no screen shows it any more")
                context.store.post(note, by: context.caller)
            }
            end()
            return false
        }
        if current.notice == nil, current.wasShown, record.presentedAt != nil {
            current.notice = timer(for: record, from: now, dismissed)
        }
        shown = current
        return true
    }

    private func timer(
        for record: AlertRecord, from now: ClockReading,
        _ dismissed: @escaping @Sendable (AlertRecord) async -> Void
    ) -> NoticeTimer? {
        guard record.alert.buttons.isEmpty else { return nil }
        let (store, caller, id) = (context.store, context.caller, record.id)
        return NoticeTimer(
            for: record.alert.dismissAfter ?? .seconds(2), from: now, context.clock
        ) {
            (try? await store.waiting(besides: id).count) ?? 0 > 0
        } mustLeave: { [weak self] in
            Task {
                guard await self?.id == id,
                    let record = try? await store.resolve(id, .dismiss, by: caller)
                else { return }
                await dismissed(record)
            }
        }
    }

    /// Called when another alert is current or another screen leads.
    func end() {
        shown?.notice?.cancel()
        shown = nil
    }
}
