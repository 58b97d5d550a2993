/// The presenters of a screen, by their names, and which of them can show something now.
struct Presenters {
    /// The call that started them; `nil` while the screen is off.
    let start: Screen.Call?
    let names: [String]
    /// The only alert to be shown; `nil` for all of them.
    let only: Alert.ID?
    /// The presenters that did not clear their screens in time.
    private(set) var stuck: Set<String> = []
    /// The presenters that failed.
    private var failed = Backoffs<String>(Backoff(longest: .seconds(60)))

    init(_ start: Screen.Start? = nil) {
        self.start = start?.call
        names = start?.presenters ?? []
        only = start?.only
    }

    /// The names of those that are not stuck, although they may rest.
    var unstuck: [String] { names.filter { !stuck.contains($0) } }

    /// The names of those that can show something now.
    func able(at now: ClockReading) -> [String] {
        unstuck.filter { !failed.isResting($0, at: now) }
    }

    /// The names of those that may show an alert and are not stuck.
    func allowed(for record: AlertRecord) -> [String] {
        guard only == nil || only == record.id else { return [] }
        return unstuck.filter { record.alert.mayBeShown(by: [$0]) }
    }

    /// Whether one of them may show an alert, and can do so now.
    func canShow(_ record: AlertRecord, at now: ClockReading) -> Bool {
        allowed(for: record).contains { !failed.isResting($0, at: now) }
    }

    /// How long a presenter still rests.
    func rest(of name: String, at now: ClockReading) -> Duration {
        failed.timeLeft(of: name, at: now)
    }

    /// When the first resting presenter can be tried again.
    func nextTry(after now: ClockReading) -> ClockReading? { failed.nextEnd(after: now) }

    mutating func markStuck(_ name: String) { stuck.insert(name) }
    mutating func markUsable(_ name: String) { stuck.remove(name) }

    /// Records a failure, and returns how long the presenter rests.
    mutating func noteFailure(
        of name: String, at now: ClockReading, atMost bound: Duration?
    ) -> Duration {
        failed.add(name, at: now, atMost: bound)
    }

    /// Forgets failures.
    mutating func noteSuccess(of names: [String]) { for name in names { failed.remove(name) } }
}
