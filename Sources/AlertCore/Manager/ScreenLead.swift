/// The lead of a manager's screen: sought, held, lost to another screen, or given up.
actor ScreenLead: QueueActor {
    nonisolated let context: QueueContext
    private let presenters: [String]
    private var lease: (any ScreenLease)?
    /// Whether the screen has taken the lead, which others may take from it.
    private var isTaken = false

    init(for presenters: [String], in context: QueueContext) {
        self.presenters = presenters
        self.context = context
    }

    deinit { lease?.release() }

    /// The screen's lease, if it leads or can lead now.
    func take() async -> (any ScreenLease)? {
        if lease == nil {
            let screen = SlotHolder(
                identity: context.caller.identity, presenters: presenters,
                hasDelegate: context.delegates.hasManagers)
            lease = try? await context.store.attach(screen)
        }
        guard let lease, await lease.lead() else { return nil }
        isTaken = true
        return lease
    }

    /// Waits until it may be worth trying again, for a second at most.
    func wait() async {
        if let lease { return await lease.waitToLead() }
        // It could not be attached; it ends early when the loop does.
        try? await Task.sleep(for: .seconds(1))
    }

    /// Whether another screen leads instead of this one, or may; `true` only once.
    func isLost() -> Bool {
        guard isTaken, let lease, !lease.isLeading else { return false }
        isTaken = false
        return true
    }

    /// Lets other screens lead.
    func giveUp() {
        isTaken = false
        lease?.stepBack()
    }

    func end() {
        isTaken = false
        lease?.release()
        lease = nil
    }
}
