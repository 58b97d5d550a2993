import AlertQueue
import FoundationEssentials

/// One alert on the screen, from its first line to the person's choice.
struct AlertSession {
    /// A key, and what it chose, that the next moment may show to be one of many.
    private struct HeldKey {
        let choice: PresenterChoice?
        let before: AlertInteraction
        let time: ContinuousClock.Instant
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
    private var held: HeldKey?
    private var hasAppeared = false
    private var wasDrained = true
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
                await appear()
            case .bytes(let bytes, let number, let time):
                let isContinued = parser.isInsideKey
                let keys = parser.keys(from: bytes)
                lastRead = (number, time)
                if let choice = press(
                    keys, isContinued: isContinued, isMixed: parser.takeDropped())
                {
                    return choice
                }
                if let patience = parser.patience {
                    input.awaitSilence(patience, after: number)
                }
            case .silence:
                if let choice = held?.choice { return choice }
                held = nil
                if let key = parser.pause() {
                    // It is as old as its only byte, and stood alone since.
                    _ = press([key], isContinued: true, isMixed: false)
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
    private mutating func press(
        _ keys: [Key], isContinued: Bool, isMixed: Bool
    ) -> PresenterChoice? {
        // A key that is not whole yet is typed too.
        guard !keys.isEmpty || isMixed else {
            gate.typed(at: lastRead.time)
            return nil
        }
        let before = held
        held = nil
        switch gate.judge(
            keys, at: lastRead.time, isContinued: isContinued, isMixed: isMixed)
        {
        case .early: break
        case .burst:
            if let before, lastRead.time < before.time + KeyGate.repeatGap {
                state.interaction = before.before
            }
            for key in keys where key.moves { press(key) }
        case .key(let key):
            // That another key came next shows that the one before stood alone.
            if let choice = before?.choice { return choice }
            press(key)
        }
        return nil
    }

    private mutating func press(_ key: Key) {
        let before = state.interaction
        let action = state.interaction.press(key, visible: shown.visible)
        if !key.moves {
            var choice: PresenterChoice?
            if case .finish(let chosen) = action { choice = chosen }
            held = HeldKey(choice: choice, before: before, time: lastRead.time)
            input.awaitSilence(KeyGate.repeatGap, after: lastRead.number)
        }
        switch action {
        case .finish: break
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
        if appearedAt != nil, !hasAppeared { await appear() }
        // The drawing for a key that has just come is on its way.
        let isDrained = terminal.isDrained
        let isVisible = hasAppeared && !shown.isTooSmall && (isDrained || wasDrained)
        wasDrained = isDrained
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

    /// Says that the alert is on the screen, unless only a part of it would fit.
    private mutating func appear() async {
        guard !shown.isTooSmall else { return }
        hasAppeared = true
        await presentation.didAppear()
        await look()
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
