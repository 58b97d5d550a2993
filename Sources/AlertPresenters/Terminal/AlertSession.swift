import AlertCore
import FoundationEssentials

/// One alert on the screen, from its first line to the person's choice.
struct AlertSession {
    /// A key and its choice, held back because it may turn out to be one of many.
    private struct HeldKey {
        let choice: PresenterChoice?
        let before: AlertInteraction
        let time: ContinuousClock.Instant
    }

    let presentation: Presentation
    let terminal: Terminal
    let input: TerminalInput
    let screen: TerminalScreen
    let users: UserNames

    private let facts: AlertFacts
    private var layout: AlertScreen
    private var state: AlertScreen.State
    private var shown = AlertScreen.Layout(lines: [])
    /// What has been written to the terminal, and since when; `nil` if that took no more output.
    private var drawn: (layout: AlertScreen.Layout, at: ContinuousClock.Instant)?
    private var reader = KeyReader()
    private var held: HeldKey?
    private var hasAppeared = false
    private var appearedAt: ContinuousClock.Instant?
    private var factsChangedAt: ContinuousClock.Instant
    private var dismissesAt: ContinuousClock.Instant?
    private var waiting: WaitingAlerts
    private var current: AlertRecord
    private var lookedAt: ContinuousClock.Instant

    init(
        _ presentation: Presentation, terminal: Terminal, input: TerminalInput,
        screen: TerminalScreen, users: UserNames, host: String, form: AlertForm? = nil
    ) {
        self.presentation = presentation
        self.terminal = terminal
        self.input = input
        self.screen = screen
        self.users = users
        factsChangedAt = terminal.clock.now
        lookedAt = factsChangedAt
        let characters = terminal.characters
        facts = AlertFacts(presentation, host: host, characters: characters)
        waiting = WaitingAlerts(count: presentation.waitingCount)
        current = presentation.record
        layout = AlertScreen(
            presentation.alert, hasColours: screen.hasColours, characters: characters)
        let interaction = AlertInteraction(
            presentation.alert, form: form, laterOptions: facts.laterOptions(now: Date()),
            characters: characters)
        state = AlertScreen.State(interaction: interaction, facts: [], isLive: false)
        state.facts = currentFacts()
    }

    /// What the person has filled in.
    var form: AlertForm { state.interaction.form }

    /// Shows the alert until the person makes a choice.
    ///
    /// - Throws: `CancellationError`, or a ``TerminalError`` when the terminal has gone.
    mutating func run() async throws -> PresenterChoice {
        draw()
        input.readWhenDrained()
        for try await event in input.events {
            // A key that was typed before it was drawn says nothing about it.
            if let drawn, terminal.isDrained, let time = event.time, time >= drawn.at {
                layout.saw(drawn.layout)
            }
            switch event {
            case .ready(let time):
                appearedAt = time
                await appear()
            case .bytes(let bytes, let number, let time):
                guard
                    let (keys, verdict) = reader.read(bytes, number: number, at: time, from: input)
                else {
                    awaitSilence()
                    break
                }
                for case .signal(let signal) in keys { terminal.send(signal: signal) }
                if let choice = take(keys, verdict) { return choice }
            case .silence:
                if let choice = held?.choice { return choice }
                held = nil
                if let verdict = reader.pause() { _ = take([], verdict) }
            case .tick(let time):
                input.tickDone()
                await update(at: time)
            }
            draw()
        }
        throw CancellationError()
    }
}

// MARK: - After the choice

extension AlertSession {
    /// Shows that a choice has been made and is being stored.
    mutating func mark(_ choice: PresenterChoice) {
        state.storing =
            switch choice {
            case .button(let index, _):
                "Storing “\(label(index))”…"
            case .later: "Snoozing…"
            case .close: "Closing…"
            }
        draw()
    }

    private func label(_ index: Int) -> String {
        terminal.characters.title(presentation.alert.buttons[index].title)
    }

    /// Keeps the alert on the screen until its input ends; keys have no effect now.
    func stay() async {
        var session = self
        do {
            for try await event in input.events {
                guard case .tick = event else { continue }
                input.tickDone()
                session.draw()
            }
        } catch {
            // The terminal has gone; the choice is stored anyway.
        }
    }
}

// MARK: - Keys

extension AlertSession {
    /// Applies the keys of the last read; returns the choice that they confirm, if any.
    private mutating func take(_ keys: [Key], _ verdict: KeyGate.Verdict) -> PresenterChoice? {
        let before = held
        held = nil
        switch verdict {
        case .early: break
        case .burst:
            if let before, reader.last.time < before.time + KeyGate.repeatGap {
                state.interaction = before.before
            }
            if state.interaction.type(keys) {
                state.follows = .cursor
                layout.review()
            } else {
                for key in keys where key.moves { press(key) }
            }
        case .key(let key):
            // Another key has followed: the one before was a single press.
            if let choice = before?.choice { return choice }
            press(key)
        }
        return nil
    }

    /// Asks to be told when nothing has followed the key that is held back.
    private func awaitSilence() {
        guard let held else { return }
        input.awaitSilence(until: held.time + KeyGate.repeatGap, after: reader.last.number)
    }

    private mutating func press(_ key: Key) {
        let before = state.interaction
        let view = AlertInteraction.View(
            visible: shown.visible, isAllShown: layout.seen.isEverything,
            scrolls: shown.maxScroll > 0, isInList: shown.isInList)
        let action = state.interaction.press(key, view)
        if !key.moves, action != .edited {
            var choice: PresenterChoice?
            if case .finish(let chosen) = action { choice = chosen }
            held = HeldKey(choice: choice, before: before, time: reader.last.time)
            awaitSilence()
        }
        switch action {
        case .finish: break
        case .scroll(let pages):
            state.scroll = min(max(0, state.scroll + pages * shown.page), shown.maxScroll)
            state.follows = .nothing
        case .readOn:
            state.scroll = shown.firstUnseen ?? state.scroll
            state.follows = .nothing
        case .redraw: screen.invalidate()
        case .edited, nil:
            let hasMoved = before.form.focus != state.interaction.form.focus
            state.follows = hasMoved ? .entry : .cursor
            if case .paste = key { layout.review() }
        }
    }
}

// MARK: - Time

extension AlertSession {
    private mutating func update(at now: ContinuousClock.Instant) async {
        if appearedAt != nil, !hasAppeared { await appear() }
        let isShown = hasAppeared && !shown.isTooSmall
        if reader.update(isShown: isShown, isDrained: terminal.isDrained, at: now) {
            state.isLive = true
        }
        if appearedAt != nil, now >= lookedAt + .seconds(1) { await look() }
        // A countdown changes every second, and is drawn no more often than that.
        guard now >= factsChangedAt + .milliseconds(850) else { return }
        // As time passes, the end of a snooze may move beyond the deadline.
        state.interaction.offer(facts.laterOptions(now: Date()))
        let facts = currentFacts()
        guard facts != state.facts else { return }
        state.facts = facts
        factsChangedAt = now
    }

    /// Reports that the alert is on the screen, unless the window is too small.
    private mutating func appear() async {
        guard !shown.isTooSmall else { return }
        hasAppeared = true
        await presentation.didAppear()
        await look()
    }

    /// Updates what changes without a key: how many others wait, who deals with the alert, whether
    /// somebody waits for the answer, and when it closes.
    private mutating func look() async {
        lookedAt = terminal.clock.now
        waiting = await presentation.waiting()
        current = await presentation.currentRecord()
        if presentation.alert.buttons.isEmpty {
            dismissesAt = await presentation.timeUntilDismissal().map { terminal.clock.now + $0 }
        }
        if state.facts != currentFacts(), factsChangedAt <= appearedAt ?? lookedAt {
            state.facts = currentFacts()
            factsChangedAt = terminal.clock.now
        }
    }

    private func currentFacts() -> [String] {
        facts.texts(
            current, user: users.name(presentation.record.source.principal), waiting: waiting,
            dismissal: dismissesAt.map { $0 - terminal.clock.now }, namesFields: false,
            now: Date())
    }
}

// MARK: - Drawing

extension AlertSession {
    private mutating func draw() {
        let size = terminal.size
        shown = layout.layout(state, size: size)
        if state.isAllShown != shown.isAllShown {
            state.isAllShown.toggle()
            // Where no key has selected a button, the screen does.
            if !state.isLive || state.interaction.isInForm {
                state.interaction.preselect(approves: state.isAllShown)
            }
            shown = layout.layout(state, size: size)
        }
        state.scroll = shown.scroll
        if !screen.show(shown.lines, size: size) {
            drawn = nil
        } else if drawn?.layout != shown {
            drawn = (shown, terminal.clock.now)
        }
    }
}
