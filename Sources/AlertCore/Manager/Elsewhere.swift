/// The current alert while the leading screen can't show it itself.
struct Elsewhere {
    /// How long an alert may be on no screen before the next one gets its turn.
    private static let patience = Duration.seconds(3)
    /// How long a screen may announce it before it has appeared there.
    static let patienceWithAnnouncement = Duration.seconds(10)

    let id: Alert.ID
    /// When it became current.
    private let start: ClockReading
    /// When it was last known to be on a screen, or became current.
    private var lastSeen: ClockReading
    private(set) var wasShown = false
    /// When an alert without buttons is dismissed, once it is on a screen.
    var notice: Notice?

    init(_ id: Alert.ID, since now: ClockReading) {
        self.id = id
        start = now
        lastSeen = now
    }

    /// Looks at the other screens; returns `false` if none of them shows it, or soon will.
    mutating func note(
        _ record: AlertRecord, on others: ScreenRoster, at now: ClockReading
    ) -> Bool {
        let hasAppeared =
            record.presentedAt != nil
            || !now.isAtOrAfter(start.advanced(by: Self.patienceWithAnnouncement))
        if others.shows(id), hasAppeared {
            (wasShown, lastSeen) = (true, now)
        } else if !others.canShow(record.alert, id)
            || now.isAtOrAfter(lastSeen.advanced(by: Self.patience))
        {
            return false
        }
        if notice == nil, wasShown, record.presentedAt != nil, record.alert.buttons.isEmpty {
            notice = Notice(for: record.alert, from: now)
        }
        return true
    }
}

/// When an alert without buttons leaves the screen: after its own time, or earlier if others wait.
struct Notice {
    /// How long an alert without buttons may keep others waiting.
    private static let longestForOthers = Duration.seconds(10)

    /// What is to be done when its time on the screen is over, or is if others wait.
    enum Step { case dismiss, count }

    private let end: ClockReading
    private let endForOthers: ClockReading
    /// When to look again.
    private(set) var next: ClockReading
    /// Whether the alerts that wait are being counted, because its time is over if there are any.
    private var isCounting = false

    init(for alert: Alert, from start: ClockReading) {
        let time = alert.dismissAfter ?? .seconds(2)
        end = start.advanced(by: time)
        endForOthers = start.advanced(by: min(time, Self.longestForOthers))
        next = endForOthers
    }

    /// What is to be done now, if anything. A step is repeated each second, in case the dismissal
    /// can't be stored the first time.
    mutating func takeStep(at now: ClockReading) -> Step? {
        guard now.isAtOrAfter(next) else { return nil }
        let left = now.time(until: end)
        next = now.advanced(by: left > .zero ? min(left, .seconds(1)) : .seconds(1))
        isCounting = left > .zero
        return isCounting ? .count : .dismiss
    }

    /// Takes the count; returns whether it was asked for, and the time is over because others wait.
    mutating func take(_ waiting: WaitingAlerts) -> Bool {
        defer { isCounting = false }
        return isCounting && waiting.count > 0
    }

    func timeLeft(at now: ClockReading, othersWait: Bool) -> Duration {
        now.time(until: othersWait ? endForOthers : end)
    }
}
