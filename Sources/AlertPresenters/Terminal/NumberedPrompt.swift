import AlertQueue
import FoundationEssentials

/// An alert as plain text with numbered buttons, for a terminal without a screen to move on.
///
/// It asks for a line, in the terminal's own settings, and asks again after one that it can't use.
struct NumberedPrompt {
    enum Reading: Equatable {
        case choice(PresenterChoice, isDestructive: Bool)
        case unclear
    }

    private static let lineLimit = 4096

    private let alert: Alert
    private let buttons: ChoiceList
    private let laterOptions: [AlertInteraction.LaterOption]

    init(_ alert: Alert, laterOptions: [AlertInteraction.LaterOption]) {
        self.alert = alert
        self.laterOptions = laterOptions
        buttons = AlertInteraction(alert, laterOptions: []).buttons
    }

    /// The alert with its choices, as lines of at most `columns` columns.
    func lines(facts: [String], columns: Int) -> [String] {
        var lines = DisplayWidth.wrapped(SafeText.line(alert.title), to: columns)
        if let message = alert.message {
            lines += DisplayWidth.wrapped(SafeText.lines(message), to: columns)
        }
        lines += DisplayWidth.wrapped(facts.joined(separator: " · "), to: columns)
        guard !buttons.choices.isEmpty else { return lines }
        for (place, choice) in buttons.choices.enumerated() {
            let label = PromptLabel.text(choice.title, choice.role)
            lines += item("\(place + 1)", label, columns)
        }
        for (place, option) in laterOptions.enumerated() {
            lines += item(place == 0 ? "l" : "l\(place + 1)", "later: " + option.title, columns)
        }
        return lines
    }

    /// The words before the answer.
    var question: String {
        let count = buttons.choices.count
        switch count {
        case 0: return "Enter closes: "
        case 1: return "1, or l for later: "
        default: return "1 to \(count), or l for later: "
        }
    }

    /// What a line means.
    func read(_ line: String) -> Reading {
        let text = Self.trimmed(line).lowercased()
        guard !buttons.choices.isEmpty else { return .choice(.close, isDestructive: false) }
        if let number = Int(text), buttons.choices.indices.contains(number - 1) {
            return Self.reading(buttons.choices[number - 1])
        }
        let named = buttons.choices.filter { $0.title.lowercased() == text }
        if named.count == 1 { return Self.reading(named[0]) }
        guard named.isEmpty, text.first == "l" else { return .unclear }
        let place = text == "l" ? 1 : Int(text.dropFirst()) ?? 0
        guard laterOptions.indices.contains(place - 1) else { return .unclear }
        return .choice(.later(laterOptions[place - 1].duration), isDestructive: false)
    }

    private static func reading(_ choice: Choice) -> Reading {
        .choice(.button(choice.index), isDestructive: choice.role == .destructive)
    }

    private func item(_ mark: String, _ title: String, _ columns: Int) -> [String] {
        let texts = DisplayWidth.wrapped(title, to: max(1, columns - 6))
        return texts.enumerated().map { index, text in
            (index == 0 ? DisplayWidth.padded("  " + mark + ")", to: 6) : "      ") + text
        }
    }

    private static func trimmed(_ line: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        guard let first = line.firstIndex(where: { !isBlank($0) }),
            let last = line.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(line[first...last])
    }
}

extension NumberedPrompt {
    /// Shows the alert, and waits for a line that chooses.
    ///
    /// - Throws: `CancellationError`, or a ``TerminalError`` when the input ends.
    func run(
        _ presentation: Presentation, on terminal: Terminal, input: TerminalInput,
        facts: @Sendable (Duration?) -> [String], appearsUnasked: Bool
    ) async throws -> PresenterChoice {
        let columns = terminal.size.columns
        let dismissal = await presentation.timeUntilDismissal() ?? initialDismissal
        let text = lines(facts: facts(dismissal), columns: columns)
        terminal.write("\r\n" + text.map { $0 + "\r\n" }.joined())
        if !appearsUnasked { terminal.write(question) }
        input.readWhenDrained()

        var line: [UInt8] = []
        var appearedAt: ContinuousClock.Instant?
        var isLive = !appearsUnasked
        for try await event in input.events {
            switch event {
            case .ready(let time):
                appearedAt = time
                await presentation.didAppear()
            case .tick:
                input.tickDone()
                guard !isLive, let appearedAt,
                    .now >= appearedAt + AlertSession.guardTime
                else { break }
                // The question comes only now, and what was typed before it is no answer.
                input.discardTyped()
                terminal.write(question)
                isLive = true
            case .bytes(let bytes, _, let time):
                guard isLive, let appearedAt else { break }
                line += bytes
                let isEarly = time < appearedAt + AlertSession.guardTime
                if let choice = take(&line, isEarly: isEarly, on: terminal) { return choice }
            case .silence: break
            }
        }
        throw CancellationError()
    }

    private var initialDismissal: Duration? {
        alert.buttons.isEmpty ? alert.dismissAfter ?? .seconds(2) : nil
    }

    /// Reads the whole lines that have come.
    private func take(
        _ bytes: inout [UInt8], isEarly: Bool, on terminal: Terminal
    ) -> PresenterChoice? {
        while let end = bytes.firstIndex(of: 0x0A) {
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeFirst(end + 1)
            switch read(line) {
            case .choice(let choice, let isDestructive):
                if !(isDestructive && isEarly) { return choice }
                terminal.write("That was too quick to be meant. ")
            case .unclear:
                let shown = DisplayWidth.truncated(SafeText.line(Self.trimmed(line)), to: 30)
                terminal.write("“\(shown)” is not one of them. ")
            }
            terminal.write(question)
        }
        if bytes.count > Self.lineLimit { bytes = [] }
        return nil
    }
}
