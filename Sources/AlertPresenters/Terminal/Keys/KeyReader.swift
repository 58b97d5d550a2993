/// Reads the keys that are typed while one alert is shown, each judged by when it came.
struct KeyReader {
    private var parser = KeyParser()
    private var gate = KeyGate()
    private var wasDrained = true
    /// The number of the last read, and when it came.
    private(set) var last = (number: 0, time: ContinuousClock.now)

    /// Whether the alert takes keys.
    var isLive: Bool { gate.isLive }

    /// Reads bytes; `nil` for a part of a key, which its rest or a silence completes.
    mutating func read(
        _ bytes: [UInt8], number: Int, at time: ContinuousClock.Instant, from input: TerminalInput
    ) -> (keys: [Key], verdict: KeyGate.Verdict)? {
        let isContinued = parser.isInsideKey
        let keys = parser.keys(from: bytes)
        let isMixed = parser.takeDropped()
        last = (number, time)
        if let patience = parser.patience {
            input.awaitSilence(until: time + patience, after: number)
        }
        guard !keys.isEmpty || isMixed else {
            // A key that is not whole yet is typed too.
            gate.typed(at: time)
            return nil
        }
        return (keys, gate.judge(keys, at: time, isContinued: isContinued, isMixed: isMixed))
    }

    /// Says that nothing came for a while: what was cut off is Escape, or no key.
    mutating func pause() -> KeyGate.Verdict? {
        // It is as old as its only byte.
        parser.pause().map { gate.judge([$0], at: last.time, isContinued: true) }
    }

    /// Looks at the clock; `true` when the alert has just gone live.
    ///
    /// - Parameters:
    ///   - isShown: Whether title and buttons have been written.
    ///   - isDrained: Whether the terminal has taken what was written.
    mutating func update(
        isShown: Bool, isDrained: Bool, at time: ContinuousClock.Instant
    ) -> Bool {
        // What is drawn for a key that has just come is on its way.
        gate.setVisible(isShown && (isDrained || wasDrained), at: time)
        wasDrained = isDrained
        return gate.update(at: time)
    }
}
