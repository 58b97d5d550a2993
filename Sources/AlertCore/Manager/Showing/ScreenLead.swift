/// A manager's screen among those of its queue: attached, leading or following.
actor ScreenLead: QueueActor {
    enum Role: Sendable {
        /// The screen can't be attached now, or stays away.
        case detached
        case leads(any ScreenLease)
        /// Another screen leads, and says which alert is current.
        case follows(any ScreenLease, current: Alert.ID?)
    }

    nonisolated let context: QueueContext
    private let screen: AttachedScreen
    /// Lets managers that share one terminal take turns.
    private let turn: PresentationTurn?
    private var taking: Task<Bool, Never>?
    /// Whether the screen is to stay out of the lead, because it can't show anything now.
    private var isAway = false
    private var watching: Task<Void, Never>?
    private var lease: (any ScreenLease)?
    /// What the lease counted when the role was last looked at.
    private var seen: UInt64 = 0
    /// When the screen could last not be attached.
    private var failure: ContinuousClock.Instant?

    init(of screen: AttachedScreen, turn: PresentationTurn?, in context: QueueContext) {
        self.screen = screen
        self.turn = turn
        self.context = context
    }

    deinit {
        watching?.cancel()
        lease?.release()
    }

    /// Attaches the screen, if it is not.
    ///
    /// - Throws: ``AlertError/busy(_:)`` where there are too many, and what else is in the way; it
    ///   is tried again a second later.
    func attach() async throws(AlertError) {
        guard lease == nil, failure.map({ $0.duration(to: .now) >= .seconds(1) }) ?? true else {
            return
        }
        do throws(AlertError) {
            lease = try await context.store.attach(screen)
            failure = nil
        } catch {
            failure = .now
            throw error
        }
    }

    /// What the screen is now; one that can lead does from here on.
    ///
    /// - Parameter mayLead: Whether it may take the lead now, if it does not have it.
    func role(mayLead: Bool = true) async -> Role {
        try? await attach()
        guard let lease else { return .detached }
        seen = lease.changeCount
        guard !isAway else { return .detached }
        let leads = mayLead ? await lease.lead() : lease.isLeading
        if leads { return .leads(lease) }
        guard let others = lease.others else { return .detached }
        return .follows(lease, current: others.current)
    }

    /// Calls a closure whenever the role may be another one, and once a second, until the screen is
    /// detached.
    func watch(_ body: @escaping @Sendable () async -> Void) {
        watching = Task { [weak self] in
            while !Task.isCancelled {
                guard let (lease, seen) = await self?.watched else { return }
                if let lease {
                    await lease.waitForChange(after: seen)
                } else {
                    try? await Task.sleep(for: .seconds(1))
                }
                await body()
            }
        }
    }

    private var watched: ((any ScreenLease)?, UInt64) { (lease, seen) }

    /// Stops leading, but follows.
    func stepBack() { lease?.stepBack() }

    /// Gives up the lead, and has the others expect nothing of this screen for now.
    ///
    /// - Parameter busy: The presenters that will show something again when the alert of another
    ///   queue has left them.
    func stayAway(busy presenters: [String] = []) {
        isAway = true
        lease?.offer(presenters, isBusy: !presenters.isEmpty)
        stepBack()
    }

    /// Tells the others which presenters can show something now.
    func comeBack(offering presenters: [String]) {
        isAway = false
        lease?.offer(presenters, isBusy: false)
    }

    /// Detaches the screen.
    func end() {
        watching?.cancel()
        lease?.release()
        lease = nil
    }
}

// MARK: - Turns

extension ScreenLead {
    /// Waits for the screen that is shared with other managers, whose alert may be on it for long;
    /// `false` if presenting ended first.
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
