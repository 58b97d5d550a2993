/// The runs of a screen's presenters with one alert.
struct PresenterRuns {
    /// Notifies a presenter about a presentation.
    typealias Telling = @Sendable (any AlertPresenter, Presentation) async -> Void

    private let presentation: Presentation
    private let signals: ShowSignals
    private let clock: any AlertClock
    private weak let loop: PresentationLoop?
    private var runs: [String: PresenterRun] = [:]
    /// The presenters that did not clear their screens in time.
    private var stuck: Set<String> = []

    init(
        of presentation: Presentation, _ signals: ShowSignals, _ clock: any AlertClock,
        for loop: PresentationLoop
    ) {
        self.presentation = presentation
        self.signals = signals
        self.clock = clock
        self.loop = loop
    }

    var isEmpty: Bool { runs.isEmpty }

    var all: [PresenterRun] { Array(runs.values) }

    /// Whether a presenter shows the alert or is about to; one that rests after a failure does not.
    var isShowing: Bool { runs.values.contains { !$0.isResting } }

    func contains(_ run: PresenterRun) -> Bool { runs[run.name] === run }

    /// Lets a presenter show the alert once it has rested.
    mutating func start(
        _ presenter: any AlertPresenter, after failure: AlertError? = nil, rest: Duration = .zero
    ) {
        let run = PresenterRun(of: presenter.name, signals)
        runs[run.name] = run
        run.present(presentation, on: presenter, after: failure, rest: rest, clock) {
            [weak loop] in await loop?.note(run.name, isStuck: false)
        }
    }

    mutating func remove(_ run: PresenterRun) {
        if contains(run) { runs[run.name] = nil }
    }

    mutating func remove(_ name: String) -> PresenterRun? { runs.removeValue(forKey: name) }

    mutating func removeAll() { runs.removeAll() }

    /// Notifies a presenter, unless it is stuck.
    mutating func tell(_ presenter: any AlertPresenter, _ body: @escaping Telling) {
        guard !stuck.contains(presenter.name) else { return }
        let run = PresenterRun(of: presenter.name, signals)
        runs[run.name] = run
        run.tell { [presentation] in
            await body(presenter, presentation)
        } lateEnd: { [weak loop] in
            await loop?.note(run.name, isStuck: false)
        }
    }

    /// Records that a presenter is stuck, unless it has ended by now.
    mutating func noteLate(_ run: PresenterRun) -> Bool {
        let isLate = run.noteLate()
        if isLate { stuck.insert(run.name) }
        return isLate
    }
}
