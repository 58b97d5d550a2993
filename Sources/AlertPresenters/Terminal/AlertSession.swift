import AlertQueue
import FoundationEssentials

/// One alert on the screen, from its first line to the person's choice.
struct AlertSession {
    /// A choice that the next moment may show to be one of many keys.
    private struct HeldChoice {
        let choice: PresenterChoice
        let before: AlertInteraction
    }

    let presentation: Presentation
    let terminal: Terminal
    let input: TerminalInput
    let screen: Screen
    let users: UserNames

    private let facts: AlertFacts
    private var layout: AlertScreen
    private var state: AlertScreen.State
    private var shown = AlertScreen.Layout(lines: [])
    private var parser = KeyParser()
    private var gate = KeyGate()
    private var held: HeldChoice?
    private var lastRead = (number: 0, time: ContinuousClock.now)
    private var appearedAt: ContinuousClock.Instant?
    private var factsChangedAt = ContinuousClock.now
    private var dismissesAt: ContinuousClock.Instant?
    private var waiting: WaitingAlerts
    private var lookedAt = ContinuousClock.now

    init(
        _ presentation: Presentation, terminal: Terminal, input: TerminalInput, screen: Screen,
        users: UserNames, host: String
    ) {
        self.presentation = presentation
        self.terminal = terminal
        self.input = input
        self.screen = screen
        self.users = users
        facts = AlertFacts(presentation, host: host)
        waiting = WaitingAlerts(count: presentation.waitingBehind)
        layout = AlertScreen(presentation.alert, hasColours: screen.hasColours)
        let interaction = AlertInteraction(
            presentation.alert, laterOptions: facts.laterOptions(now: Date()))
        state = AlertScreen.State(interaction: interaction, facts: [], isLive: false)
        state.facts = currentFacts()
    }

    /// Shows the alert until the person chooses.
    ///
    /// - Throws: `CancellationError`, or a ``TerminalError`` when the terminal has gone.
    mutating func run() async throws -> PresenterChoice {
        draw()
        input.readWhenDrained()
        for try await event in input.events {
            switch event {
            case .ready(let time):
                appearedAt = time
                await presentation.didAppear()
                await look()
            case .bytes(let bytes, let number, let time):
                let isContinued = parser.isInsideKey
                let keys = parser.keys(from: bytes)
                lastRead = (number, time)
                if let choice = press(keys, isContinued: isContinued) { return choice }
                if let patience = parser.patience {
                    input.awaitSilence(patience, after: number)
                }
            case .silence:
                if let held { return held.choice }
                if let key = parser.pause(), let choice = press([key], isContinued: true) {
                    return choice
                }
            case .tick(let time):
                input.tickDone()
                await update(at: time)
            }
            draw()
        }
        throw CancellationError()
    }
}

// MARK: - Keys

extension AlertSession {
    /// Does what the keys of the last read mean; returns the choice that they leave no doubt of.
    private mutating func press(_ keys: [Key], isContinued: Bool) -> PresenterChoice? {
        // A key that is not whole yet, and what is no key, are typed too.
        guard !keys.isEmpty else {
            gate.typed(at: lastRead.time)
            return nil
        }
        switch gate.judge(keys, at: lastRead.time, isContinued: isContinued) {
        case .early: break
        case .burst:
            if let held { state.interaction = held.before }
            held = nil
            for key in keys where key.moves { press(key) }
        case .key(let key):
            // That another key came next shows that the one before stood alone.
            if let held { return held.choice }
            press(key)
        }
        return nil
    }

    private mutating func press(_ key: Key) {
        let before = state.interaction
        switch state.interaction.press(key, visible: shown.visible) {
        case .finish(let choice):
            held = HeldChoice(choice: choice, before: before)
            input.awaitSilence(KeyGate.repeatGap, after: lastRead.number)
        case .scroll(let pages):
            state.scroll = min(max(0, state.scroll + pages * shown.page), shown.maxScroll)
        case .redraw: screen.invalidate()
        case nil: break
        }
    }
}

// MARK: - Time

extension AlertSession {
    private mutating func update(at now: ContinuousClock.Instant) async {
        let isVisible = appearedAt != nil && !shown.isTooSmall && terminal.isDrained
        gate.setVisible(isVisible, at: now)
        if gate.update(at: now) { state.isLive = true }
        if appearedAt != nil, now >= lookedAt + .seconds(1) { await look() }
        // The seconds of a countdown, and no more than one drawing for each of them.
        guard now >= factsChangedAt + .milliseconds(850) else { return }
        let facts = currentFacts()
        guard facts != state.facts else { return }
        state.facts = facts
        factsChangedAt = now
    }

    /// Asks what changes without a key: what waits, and when the alert dismisses itself.
    private mutating func look() async {
        lookedAt = .now
        waiting = await presentation.waiting()
        if presentation.alert.buttons.isEmpty {
            dismissesAt = await presentation.timeUntilDismissal().map { .now + $0 }
        }
        if state.facts != currentFacts(), factsChangedAt < appearedAt ?? .now {
            state.facts = currentFacts()
            factsChangedAt = .now
        }
    }

    private func currentFacts() -> [String] {
        facts.texts(
            user: users.name(presentation.record.source.uid), waiting: waiting,
            dismissal: dismissesAt.map { $0 - .now }, now: Date())
    }
}

// MARK: - Drawing

extension AlertSession {
    private mutating func draw() {
        let size = terminal.size
        shown = layout.layout(state, size: size)
        state.scroll = min(state.scroll, shown.maxScroll)
        screen.show(shown.lines, size: size)
    }
}
