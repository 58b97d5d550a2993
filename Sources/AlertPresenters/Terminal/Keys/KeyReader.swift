/// Reads the keys that are typed while one alert is shown, and judges each by its time.
struct KeyReader {
    private var parser = KeyParser()
    private var gate = KeyGate()
    private var wasDrained = true
    /// The number and the time of the last read.
    private(set) var last = (number: 0, time: ContinuousClock.now)

    /// Whether the alert takes keys.
    var isLive: Bool { gate.isLive }

    /// Reads bytes; `nil` for a part of a key, which more bytes or a silence will complete, and for
    /// the release of one.
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
            // A part of a key breaks the silence, too; the release of one doesn't.
            if parser.isInsideKey { gate.typed(at: time) }
            return nil
        }
        return (keys, gate.judge(keys, at: time, isContinued: isContinued, isMixed: isMixed))
    }

    /// Ends a key that nothing has followed, which is Escape or no key at all.
    mutating func pause() -> KeyGate.Verdict? {
        // Escape came when its only byte was read.
        parser.pause().map { gate.judge([$0], at: last.time, isContinued: true) }
    }

    /// Checks the time; returns `true` if the alert has just gone live.
    ///
    /// - Parameters:
    ///   - isShown: Whether the title and the buttons have been written.
    ///   - isDrained: Whether the terminal has taken all output.
    mutating func update(
        isShown: Bool, isDrained: Bool, at time: ContinuousClock.Instant
    ) -> Bool {
        // A redraw for a key that has just come may be on its way.
        gate.setVisible(isShown && (isDrained || wasDrained), at: time)
        wasDrained = isDrained
        return gate.update(at: time)
    }
}
