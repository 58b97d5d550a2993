/// The presenters of a presentation loop, and which of them can show something now.
struct LoopPresenters: Sendable {
    let all: [any AlertPresenter]
    /// The only alert to be shown; `nil` for all of them.
    let only: Alert.ID?
    /// Those that did not clear their screens in time.
    private(set) var stuck: Set<String> = []
    /// Those that failed.
    private var rests = Rests<String>(Backoff(longest: .seconds(60)))

    init(_ all: [any AlertPresenter] = [], only: Alert.ID? = nil) {
        self.all = all
        self.only = only
    }

    /// The names of all of them.
    var names: [String] { all.map(\.name) }

    /// The names of those that are not stuck, though they may rest.
    var unstuck: [String] { names.filter { !stuck.contains($0) } }

    /// The names of those that can show something now.
    func able(at now: ClockReading) -> [String] {
        unstuck.filter { !rests.isResting($0, at: now) }
    }

    /// Those that may show an alert, and are not stuck.
    func candidates(for record: AlertRecord) -> [any AlertPresenter] {
        guard only == nil || only == record.id else { return [] }
        let wanted = record.alert.presenters
        return all.filter { !stuck.contains($0.name) && wanted?.contains($0.name) != false }
    }

    /// Whether one of them may show an alert, and can now.
    func canShow(_ record: AlertRecord, at now: ClockReading) -> Bool {
        candidates(for: record).contains { !rests.isResting($0.name, at: now) }
    }

    /// For how long one still rests.
    func rest(of name: String, at now: ClockReading) -> Duration {
        rests.timeLeft(of: name, at: now)
    }

    /// When the first of those that rest can be tried again.
    func nextTry(after now: ClockReading) -> ClockReading? { rests.nextEnd(after: now) }

    /// Notes that one does not clear its screen in time, or that it has ended; returns whether that
    /// is news.
    mutating func note(_ name: String, isStuck: Bool) -> Bool {
        isStuck ? stuck.insert(name).inserted : stuck.remove(name) != nil
    }

    /// Notes that one failed, and returns for how long it rests.
    mutating func noteFailure(
        of name: String, at now: ClockReading, atMost bound: Duration?
    ) -> Duration {
        rests.add(name, at: now, atMost: bound)
    }

    /// Forgets that one failed.
    mutating func noteSuccess(of name: String) { rests.remove(name) }
}
