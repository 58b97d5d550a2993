/// The presenters of a presentation loop, and which of them can show something now.
struct LoopPresenters: Sendable {
    let all: [any AlertPresenter]
    /// The only alert to be shown; `nil` for all of them.
    let only: Alert.ID?
    /// The presenters that did not clear their screens in time.
    private(set) var stuck: Set<String> = []
    /// The presenters that failed.
    private var rests = Rests<String>(Backoff(longest: .seconds(60)))

    init(_ all: [any AlertPresenter] = [], only: Alert.ID? = nil) {
        self.all = all
        self.only = only
    }

    /// The names of all presenters.
    var names: [String] { all.map(\.name) }

    /// The names of those that are not stuck, although they may rest.
    var unstuck: [String] { names.filter { !stuck.contains($0) } }

    /// The names of those that can show something now.
    func able(at now: ClockReading) -> [String] {
        unstuck.filter { !rests.isResting($0, at: now) }
    }

    /// The presenters that may show an alert and are not stuck.
    func candidates(for record: AlertRecord) -> [any AlertPresenter] {
        guard only == nil || only == record.id else { return [] }
        return all.filter {
            !stuck.contains($0.name) && record.alert.mayBeShown(by: [$0.name])
        }
    }

    /// Whether some presenter may show an alert and can do so now.
    func canShow(_ record: AlertRecord, at now: ClockReading) -> Bool {
        candidates(for: record).contains { !rests.isResting($0.name, at: now) }
    }

    /// How long a presenter still rests.
    func rest(of name: String, at now: ClockReading) -> Duration {
        rests.timeLeft(of: name, at: now)
    }

    /// When the first resting presenter can be tried again.
    func nextTry(after now: ClockReading) -> ClockReading? { rests.nextEnd(after: now) }

    /// Records whether a presenter has failed to clear its screen in time; returns whether that is
    /// new.
    mutating func note(_ name: String, isStuck: Bool) -> Bool {
        isStuck ? stuck.insert(name).inserted : stuck.remove(name) != nil
    }

    /// Records a failure, and returns how long the presenter rests.
    mutating func noteFailure(
        of name: String, at now: ClockReading, atMost bound: Duration?
    ) -> Duration {
        rests.add(name, at: now, atMost: bound)
    }

    /// Forgets a presenter's failures.
    mutating func noteSuccess(of name: String) { rests.remove(name) }
}
