import AlertCore

/// One alert as a numbered prompt, from its first line to the person's choice.
///
/// Keys are read one by one, so that their timing is known. A line that comes all at once has to be
/// confirmed: pasted text does, and so does every line in terminals inside editors. A value may be
/// pasted; but where its Enter comes with it, the answer as a whole has to be confirmed, because the
/// rest of a pasted text would fill in the fields that follow. A text that is longer than the window
/// is written in parts, and a button that doesn't cancel counts after the last of them.
struct PromptSession {
    private let presentation: Presentation
    private let prompt: NumberedPrompt
    private let terminal: Terminal
    private let input: TerminalInput
    private let facts: @Sendable (WaitingAlerts, Duration?) -> [String]
    /// Whether this session echoes what is typed, because the terminal no longer does.
    private let echoes: Bool

    private var reader = KeyReader()
    private var line: PromptLine
    /// The lines that have not been written yet.
    private var rest: ArraySlice<String> = []
    /// A choice that is held back because its key may turn out to be held down.
    private var held: Answer?
    /// The button that was chosen, and the fields that are asked for since then.
    private var form: (button: Int, fields: FieldPrompt)?
    /// The remark that goes with the answer.
    private var note: String?
    /// Whether a value or the note ended with an Enter that came in a burst.
    private var hasPastedLine = false
    /// A choice that seems to be pasted, and the digits that a person types to confirm it.
    private var doubtful: Doubt?
    private var isOnTerminal = false
    private var hasSaidWhy: (tooEarly: Bool, tooSmall: Bool) = (false, false)

    /// A choice, and whether it has the values of the fields that it needs.
    private struct Answer {
        let choice: PresenterChoice
        var isFilledIn = false
    }

    private struct Doubt {
        let answer: Answer
        let digits: String
        let time: ContinuousClock.Instant
    }

    init(
        _ presentation: Presentation, prompt: NumberedPrompt, terminal: Terminal,
        input: TerminalInput, echoes: Bool,
        facts: @escaping @Sendable (WaitingAlerts, Duration?) -> [String]
    ) {
        self.presentation = presentation
        self.prompt = prompt
        self.terminal = terminal
        self.input = input
        self.echoes = echoes
        self.facts = facts
        line = PromptLine(terminal.characters)
    }

    /// Shows the alert, and waits for a line that chooses.
    ///
    /// - Throws: `CancellationError`, or a ``TerminalError`` when the input ends.
    mutating func run() async throws -> PresenterChoice {
        let columns = terminal.size.columns
        var dismissal = await presentation.timeUntilDismissal() ?? initialDismissal
        let waiting = await presentation.waiting()
        if waiting.count > 0, let time = dismissal { dismissal = min(time, .seconds(10)) }
        rest = prompt.lines(facts: facts(waiting, dismissal), columns: columns)[...]
        terminal.write("\r\n" + nextPart())
        input.readWhenDrained()
        for try await event in input.events {
            switch event {
            case .ready:
                isOnTerminal = true
                await presentation.didAppear()
            case .tick(let time):
                input.tickDone()
                update(at: time)
            case .bytes(let bytes, let number, let time):
                guard
                    let (keys, verdict) = reader.read(bytes, number: number, at: time, from: input)
                else {
                    if held != nil { awaitSilence() }
                    break
                }
                for case .signal(let signal) in keys { terminal.send(signal: signal) }
                if let choice = try take(keys, verdict) { return choice }
            case .silence:
                if let choice = confirmed() { return choice }
                _ = reader.pause()
            }
        }
        throw CancellationError()
    }

    /// The next lines, as many as fit into the window with the question below them.
    private mutating func nextPart() -> String {
        let room = max(1, terminal.size.rows - 2)
        // A notice leaves by itself.
        let isWhole = presentation.alert.buttons.isEmpty || rest.count <= room
        let part = rest.prefix(isWhole ? rest.count : room)
        rest = rest.dropFirst(part.count)
        return part.map { $0 + "\r\n" }.joined()
    }

    /// The prompt for a choice, or for the next part of the text.
    private var question: String {
        guard !rest.isEmpty else { return prompt.question }
        return "Enter shows \(rest.count) more line" + (rest.count == 1 ? ": " : "s: ")
    }

    private var initialDismissal: Duration? {
        presentation.alert.buttons.isEmpty
            ? presentation.alert.dismissAfter ?? .seconds(2) : nil
    }

    private mutating func update(at time: ContinuousClock.Instant) {
        let isLargeEnough = AlertScreen.isLargeEnough(terminal.size)
        if isOnTerminal, !isLargeEnough, !hasSaidWhy.tooSmall {
            // The cursor may be after the question.
            let question = reader.isLive ? question : ""
            terminal.write(
                (reader.isLive ? "\r\n" : "") + "The window is too small to answer in.\r\n"
                    + question)
            hasSaidWhy.tooSmall = true
        }
        let isShown = isOnTerminal && isLargeEnough
        if reader.update(isShown: isShown, isDrained: terminal.isDrained, at: time) {
            terminal.write(question)
        }
    }
}

// MARK: - Keys

extension PromptSession {
    private mutating func take(
        _ keys: [Key], _ verdict: KeyGate.Verdict
    ) throws -> PresenterChoice? {
        switch verdict {
        case .early:
            if !reader.isLive, !hasSaidWhy.tooEarly {
                let isNotice = presentation.alert.buttons.isEmpty
                terminal.write("Stop typing to \(isNotice ? "close it" : "answer").\r\n")
                hasSaidWhy.tooEarly = true
            }
        case .burst:
            if let answer = held {
                held = nil
                // What has been filled in is not lost.
                if answer.isFilledIn { doubt(answer) } else { terminal.write(question) }
            }
            let isHeld = keys.allSatisfy { $0 == .enter }
            for key in keys { try press(key, isAlone: false, isHeld: isHeld) }
        case .key(let key):
            if let choice = confirmed() { return choice }
            try press(key, isAlone: true)
        }
        return nil
    }

    /// The choice that was held back, as it is now; `nil` if there is none, or if it begins a form.
    private mutating func confirmed() -> PresenterChoice? {
        guard let answer = held else { return nil }
        held = nil
        let alert = presentation.alert
        guard case .button(let index, var input) = answer.choice else { return answer.choice }
        if answer.isFilledIn || alert.fields.isEmpty || alert.buttons[index].role == .cancel {
            input.note = note
            return .button(index, input)
        }
        form = (index, FieldPrompt(alert.fields, characters: terminal.characters))
        askForValue()
        return nil
    }

    /// Asks for a field's value.
    private func askForValue() {
        guard let fields = form?.fields else { return }
        let lines = fields.lines(columns: terminal.size.columns)
        terminal.write(lines.map { $0 + "\r\n" }.joined() + fields.question)
    }

    private mutating func press(_ key: Key, isAlone: Bool, isHeld: Bool = false) throws {
        switch key {
        case .enter:
            if line.text.isEmpty, !isAlone {
                // Enter is held down, or a pasted text has an empty line, which ends nothing.
                if !isHeld, form?.fields.readBlankLine() == true {
                    if echoes { terminal.write("\r\n") }
                    askForValue()
                }
                return
            }
            if echoes { terminal.write("\r\n") }
            end(line.end(isAlone: isAlone), isAlone: isAlone)
        case .endOfInput where line.text.isEmpty:
            throw TerminalError.endOfInput(device: terminal.device)
        default:
            let echo = line.press(key, isAlone: isAlone)
            if echoes { terminal.write(echo) }
        }
    }

    /// Takes a whole line.
    ///
    /// - Parameter isAlone: Whether its Enter was a single key press.
    private mutating func end(_ line: PromptLine, isAlone: Bool) {
        guard form == nil else { return fillIn(line, isAlone: isAlone) }
        let text = NumberedPrompt.trimmed(line.text)
        // Reading the digits takes a person longer than a paste that contains them by chance.
        if let doubtful, text == doubtful.digits,
            reader.last.time >= doubtful.time + KeyGate.repeatGap
        {
            self.doubtful = nil
            hasPastedLine = false
            return hold(doubtful.answer)
        }
        doubtful = nil
        if text.isEmpty, !rest.isEmpty { return terminal.write(nextPart() + question) }
        if let choice = prompt.read(line.text) {
            guard rest.isEmpty || !approves(choice) else {
                return terminal.write("There is more to read first. " + question)
            }
            let answer = Answer(choice: choice)
            return line.isDoubtful || hasPastedLine ? doubt(answer) : hold(answer)
        }
        if let note = prompt.note(line.text) { return take(note: note, isAlone: isAlone) }
        if text == AlertInteraction.helpKey {
            return terminal.write(prompt.help + "\r\n" + question)
        }
        let shown = DisplayWidth.truncated(terminal.characters.line(text), to: 30)
        let mistake = shown.isEmpty ? "" : "“\(shown)” is not one of them. "
        terminal.write(mistake + question)
    }

    private func approves(_ choice: PresenterChoice) -> Bool {
        guard case .button(let index, _) = choice else { return false }
        return presentation.alert.buttons[index].role != .cancel
    }

    /// Takes a line for the field that is asked for.
    private mutating func fillIn(_ line: PromptLine, isAlone: Bool) {
        guard let button = form?.button, var fields = form?.fields else { return }
        let before = fields.index
        if let reason = fields.read(line.text) { terminal.write(reason + "\r\n") }
        if fields.index > before, !isAlone { hasPastedLine = true }
        form = (button, fields)
        guard let input = fields.input else { return askForValue() }
        form = nil
        let answer = Answer(choice: .button(button, input), isFilledIn: true)
        if hasPastedLine { doubt(answer) } else { hold(answer) }
    }

    private mutating func take(note text: String, isAlone: Bool) {
        guard text.utf8.count <= Alert.Limit.value else {
            let limit = Alert.Limit.value / 1024
            return terminal.write("A note has at most \(limit) KiB. " + question)
        }
        note = text.isEmpty ? nil : text
        if !isAlone { hasPastedLine = true }
        let effect =
            text.isEmpty
            ? "No note goes with the answer; to give one, type it after the plus sign. "
            : "This note goes with the answer. "
        terminal.write(effect + question)
    }

    /// Holds an answer back until it is certain that its Enter is not held down.
    private mutating func hold(_ answer: Answer) {
        held = answer
        awaitSilence()
    }

    private func awaitSilence() {
        let (number, time) = reader.last
        input.awaitSilence(until: time + KeyGate.repeatGap, after: number)
    }

    /// Has a person confirm an answer.
    private mutating func doubt(_ answer: Answer) {
        let digits = String(Int.random(in: 100...999))
        doubtful = Doubt(answer: answer, digits: digits, time: reader.last.time)
        let what = note == nil ? "" : " with your note"
        terminal.write(
            "That came all at once, like pasted text. "
                + "If you mean “\(prompt.name(of: answer.choice))”\(what), type \(digits): ")
    }
}
