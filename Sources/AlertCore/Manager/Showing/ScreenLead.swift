/// A manager's screen among those of its queue: attached, leading or following.
actor ScreenLead: QueueActor {
    enum Role: Sendable {
        /// The screen is detached, or stays out of the lead.
        case detached
        case leads(any ScreenLease)
        /// Another screen leads and announces which alert is current.
        case follows(any ScreenLease, current: Alert.ID?)
    }

    nonisolated let context: QueueContext
    private let lease: any ScreenLease
    /// Lets managers that share one terminal take turns.
    private let turn: PresentationTurn?
    private var taking: Task<Bool, Never>?
    /// Whether the screen should stay out of the lead because it can't show anything now.
    private var isAway = false
    private var watching: Task<Void, Never>?
    /// The lease's change count when the role was last determined.
    private var seen: UInt64 = 0

    init(with lease: any ScreenLease, turn: PresentationTurn?, in context: QueueContext) {
        self.lease = lease
        self.turn = turn
        self.context = context
    }

    deinit {
        watching?.cancel()
        lease.release()
    }

    /// Determines the screen's role; if it can lead, it leads from here on.
    ///
    /// - Parameter mayLead: Whether it may take the lead now, if it does not have it.
    func role(mayLead: Bool = true) async -> Role {
        seen = lease.changeCount
        guard !isAway else { return .detached }
        let leads = mayLead ? await lease.lead() : lease.isLeading
        if leads { return .leads(lease) }
        guard let others = lease.others else { return .detached }
        return .follows(lease, current: others.current)
    }

    /// Calls a closure whenever the role may have changed, and once a second, until the screen is
    /// detached.
    func watch(_ body: @escaping @Sendable () async -> Void) {
        watching = Task { [weak self, lease] in
            while !Task.isCancelled {
                guard let seen = await self?.seen else { return }
                await lease.waitForChange(after: seen)
                await body()
            }
        }
    }

    /// Stops leading, but continues to follow.
    func stepBack() { lease.stepBack() }

    /// Gives up the lead, and announces that this screen can't show anything for now.
    ///
    /// - Parameter busy: The presenters that will be available again when another queue's alert has
    ///   left them.
    func stayAway(busy presenters: [String] = []) {
        isAway = true
        lease.offer(presenters, isBusy: !presenters.isEmpty)
        stepBack()
    }

    /// Announces which presenters can show something now.
    func comeBack(offering presenters: [String]) {
        isAway = false
        lease.offer(presenters, isBusy: false)
    }

    /// Detaches the screen.
    func end() {
        watching?.cancel()
        lease.release()
    }
}

// MARK: - Turns

extension ScreenLead {
    /// Waits for the screen that is shared with other managers, whose alerts may be on it for a
    /// long time; `false` if presenting ended first.
    func takeTurn(_ presenters: [String]) async -> Bool {
        guard let turn, !turn.takeAtOnce() else { return true }
        let taking = Task { await turn.take() }
        self.taking = taking
        let leaving = Task {
            try await Task.sleep(for: .milliseconds(50))
            // The turn may have come after the sleep had ended.
            guard !Task.isCancelled else { return }
            stayAway(busy: presenters)
        }
        defer { leaving.cancel() }
        return await taking.value
    }

    /// Lets other managers use the screen.
    nonisolated func endTurn() { turn?.end() }

    /// Lets other screens lead at once, while the alert leaves this one.
    func leave() {
        watching?.cancel()
        taking?.cancel()
        stepBack()
    }
}
