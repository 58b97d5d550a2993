import Synchronization

/// One line at the bottom of a terminal's stderr that shows how far long work has progressed.
///
/// It appears once the work has taken half a second, only on a terminal in whose foreground this
/// process runs, and disappears when the work is done. Elsewhere nothing is ever written.
final class ProgressBar: Sendable {
    /// How long work has to take before it is worth a bar.
    private static let patience = Duration.milliseconds(500)
    /// The shortest time between two drawings.
    private static let interval = Duration.milliseconds(100)

    private struct State {
        var label: String
        var started: ContinuousClock.Instant
        var due: ContinuousClock.Instant
        var isShown = false
    }

    private let errors: Output
    private let isPossible: Bool
    private let time: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameter label: What is being done, such as `verifying`; it should be short.
    init(
        _ label: String, in context: Context,
        time: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        errors = context.errors
        isPossible = errors.isTerminal && (try? context.variables("TERM")) != "dumb"
        self.time = time
        let now = time()
        state = Mutex(State(label: label, started: now, due: now + Self.patience))
    }

    /// Begins another part of the work, whose count starts again.
    func begin(_ label: String) {
        state.withLock { state in
            guard state.label != label else { return }
            state.label = label
            state.started = time()
        }
    }

    /// Updates the bar; cheap enough to be called for each piece of the work.
    func show(_ done: Int, of total: Int) {
        guard isPossible else { return }
        let line = state.withLock { state -> String? in
            let now = time()
            guard now >= state.due, errors.isInForeground else { return nil }
            state.due = now + Self.interval
            state.isShown = true
            return Self.line(
                state.label, done, of: total, after: now - state.started,
                columns: errors.currentColumns ?? 80)
        }
        // A stderr that can't be written loses the bar: that must not change what is done.
        if let line { try? errors.write("\r\(line)\u{1B}[K") }
    }

    /// Takes the bar off the screen.
    func clear() {
        let isShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if isShown { try? errors.write("\r\u{1B}[K") }
    }

    /// The bar as text, one column narrower than the terminal, so that it never wraps.
    static func line(
        _ label: String, _ done: Int, of total: Int, after time: Duration, columns: Int
    ) -> String {
        let width = min(max(columns, 20), 200) - 1
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 0
        let percent = "\(Int(share * 100)) %"
        let counts = "\(grouped(done)) of \(grouped(total))"
        let rest = remaining(share, after: time)
        var tail = [percent, counts, rest].compactMap { $0 }
        // On a narrow terminal the bar itself matters most.
        while tail.count > 1, label.count + tail.joined(separator: "  ").count + 16 > width {
            tail.removeLast()
        }
        let text = tail.joined(separator: "  ")
        let room = min(60, width - label.count - text.count - 5)
        guard room >= 4 else { return String("\(label)  \(text)".prefix(width)) }
        let filled = Int(share * Double(room))
        let bar = String(repeating: "#", count: filled)
        return "\(label)  [\(bar)\(String(repeating: ".", count: room - filled))] \(text)"
    }

    /// The time that is left, if it can be estimated yet.
    private static func remaining(_ share: Double, after time: Duration) -> String? {
        guard share > 0.01, share < 1 else { return nil }
        let passed = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let seconds = Int((passed / share * (1 - share)).rounded(.up))
        if seconds < 60 { return "\(seconds) s left" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s left" }
        return "\(seconds / 3600) h \(seconds % 3600 / 60) min left"
    }

    /// A number with a comma after every three digits, from the right.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(max(0, number)))
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }
}

extension ProgressBar {
    /// Runs long work with a bar, and cancels it when a signal asks the process to end.
    ///
    /// The work checks between its pieces whether it has been cancelled, ends in order, and prints
    /// the results that it has.
    ///
    /// - Throws: what the work throws, and ``Interruption`` after a signal, once the work has
    ///   ended.
    static func during<Result: Sendable>(
        _ label: String, in context: Context,
        _ work: @escaping @Sendable (ProgressBar) async throws -> Result
    ) async throws -> Result {
        let bar = ProgressBar(label, in: context)
        let signals = SignalWatch(stops: false)
        let received = Mutex<Int32?>(nil)
        let working = Task {
            defer { bar.clear() }
            return try await work(bar)
        }
        let watching = Task {
            for await signal in signals.events {
                received.withLock { $0 = signal }
                working.cancel()
            }
        }
        defer { watching.cancel() }
        let result = await working.result
        if let signal = received.withLock({ $0 }) { throw Interruption(signal: signal) }
        return try result.get()
    }
}
