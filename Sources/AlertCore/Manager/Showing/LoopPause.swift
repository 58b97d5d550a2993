/// What an idle presentation loop waits for.
enum LoopPause: Sendable {
    /// The next wake-up after the ones already counted.
    case untilWoken(after: UInt64)
    /// The same, or a moment.
    case until(ClockReading, after: UInt64)
    /// A moment, or the end of presenting, counted likewise.
    case untilEnd(ClockReading, after: UInt64)

    /// The next wake-up, or the first of several moments, if there are any.
    static func untilFirst(
        of ends: [ClockReading?], _ now: ClockReading, after seen: UInt64
    ) -> LoopPause {
        now.earliest(of: ends.compactMap(\.self)).map { .until($0, after: seen) }
            ?? .untilWoken(after: seen)
    }

    func wait(_ wakeUps: WakeUps, _ clock: any AlertClock) async {
        switch self {
        case .untilWoken(let seen): await wakeUps.wait(after: seen)
        case .until(let end, let seen):
            await Self.first(of: { await wakeUps.wait(after: seen) }, end, clock)
        case .untilEnd(let end, let seen):
            await Self.first(of: { await wakeUps.waitForEnd(after: seen) }, end, clock)
        }
    }

    private static func first(
        of wait: @escaping @Sendable () async -> Void, _ end: ClockReading, _ clock: any AlertClock
    ) async {
        await withTaskGroup { group in
            group.addTask { await wait() }
            group.addTask { try? await clock.sleep(until: end) }
            await group.next()
            group.cancelAll()
        }
    }
}
