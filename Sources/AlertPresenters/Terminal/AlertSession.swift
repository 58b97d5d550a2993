import AlertQueue
import FoundationEssentials

/// One alert on the screen, from its first line to the person's choice.
struct AlertSession {
    /// How long an alert that appears unasked takes no keys, and any alert destroys nothing.
    static let guardTime = Duration.milliseconds(500)

    let presentation: Presentation
    let terminal: Terminal
    let input: TerminalInput
    let screen: Screen
    let users: UserNames
    let appearsUnasked: Bool

    private let facts: AlertFacts
    private var layout: AlertScreen
    private var state: AlertScreen.State
    private var page = 1
    private var maxScroll = 0
    private var parser = KeyParser()
    private var appearedAt: ContinuousClock.Instant?
    private var liveAt: ContinuousClock.Instant?
    private var lastTypedAt = ContinuousClock.now
    private var pasteEndsAt = ContinuousClock.now
    private var factsChangedAt = ContinuousClock.now
    private var dismissesAt: ContinuousClock.Instant?
    private var dismissalAskedAt = ContinuousClock.now

    init(
        _ presentation: Presentation, terminal: Terminal, input: TerminalInput, screen: Screen,
        users: UserNames, host: String, appearsUnasked: Bool
    ) {
        self.presentation = presentation
        self.terminal = terminal
        self.input = input
        self.screen = screen
        self.users = users
        self.appearsUnasked = appearsUnasked
        facts = AlertFacts(presentation, host: host)
        layout = AlertScreen(presentation.alert, hasColours: screen.hasColours)
        let interaction = AlertInteraction(
            presentation.alert, laterOptions: facts.laterOptions(now: Date()))
        state = AlertScreen.State(
            interaction: interaction, facts: [], isLive: !appearsUnasked)
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
                if !appearsUnasked { liveAt = time }
                await presentation.didAppear()
                await askDismissal()
            case .bytes(let bytes, let number, let time):
                let keys = parser.keys(from: bytes)
                lastTypedAt = time
                if let patience = parser.patience {
                    input.awaitSilence(patience, after: number)
                }
                guard !isPasted(keys, at: time) else { break }
                for key in keys {
                    if let choice = press(key, at: time) { return choice }
                }
            case .silence:
                // The key is as old as its last byte.
                if let key = parser.pause(), let choice = press(key, at: lastTypedAt) {
                    return choice
                }
            case .tick:
                input.tickDone()
                await update()
            }
            draw()
        }
        throw CancellationError()
    }
}

// MARK: - Keys

extension AlertSession {
    private mutating func press(
        _ key: Key, at time: ContinuousClock.Instant
    ) -> PresenterChoice? {
        guard let appearedAt, let liveAt, time >= liveAt else { return nil }
        let mayDestroy = time >= appearedAt + Self.guardTime
        switch state.interaction.press(key, mayDestroy: mayDestroy) {
        case .finish(let choice): return choice
        case .scroll(let pages):
            state.scroll = min(max(0, state.scroll + pages * page), maxScroll)
        case .redraw: screen.invalidate()
        case nil: break
        }
        return nil
    }

    /// Whether so much came at once that no fingers can have typed it, or soon after such.
    ///
    /// Terminals that don't mark pastes send them like keys, in one piece or several.
    private mutating func isPasted(_ keys: [Key], at time: ContinuousClock.Instant) -> Bool {
        let characters = keys.count { if case .character = $0 { true } else { false } }
        guard characters > 2 || time < pasteEndsAt else { return false }
        pasteEndsAt = time + .milliseconds(100)
        return true
    }
}

// MARK: - Time

extension AlertSession {
    private mutating func update() async {
        let now = ContinuousClock.now
        if let appearedAt, liveAt == nil, now >= appearedAt + Self.guardTime {
            // Only what is typed from now on, when the alert looks alive, counts.
            liveAt = now
            state.isLive = true
        }
        if appearedAt != nil, now >= dismissalAskedAt + .seconds(1) { await askDismissal() }
        // The seconds of a countdown, and no more than one drawing for each of them.
        guard now >= factsChangedAt + .milliseconds(850) else { return }
        let facts = currentFacts()
        guard facts != state.facts else { return }
        state.facts = facts
        factsChangedAt = now
    }

    private mutating func askDismissal() async {
        guard presentation.alert.buttons.isEmpty else { return }
        dismissalAskedAt = .now
        dismissesAt = await presentation.timeUntilDismissal().map { .now + $0 }
        if state.facts != currentFacts(), factsChangedAt < appearedAt ?? .now {
            state.facts = currentFacts()
            factsChangedAt = .now
        }
    }

    private func currentFacts() -> [String] {
        facts.texts(
            user: users.name(presentation.record.source.uid),
            dismissal: dismissesAt.map { $0 - .now }, now: Date())
    }
}

// MARK: - Drawing

extension AlertSession {
    private mutating func draw() {
        let size = terminal.size
        let result = layout.layout(state, size: size)
        page = result.page
        maxScroll = result.maxScroll
        state.scroll = min(state.scroll, maxScroll)
        screen.show(result.lines, size: size)
    }
}
