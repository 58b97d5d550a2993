/// The presenters of a presentation loop, and which of them can show something now.
struct LoopPresenters: Sendable {
    let all: [any AlertPresenter]
    /// The only alert to be shown; `nil` for all of them.
    let only: Alert.ID?
    /// Those that did not clear their screens in time.
    private(set) var stuck: Set<String> = []

    init(_ all: [any AlertPresenter] = [], only: Alert.ID? = nil) {
        self.all = all
        self.only = only
    }

    /// The names of all of them.
    var names: [String] { all.map(\.name) }

    /// The names of those that are not stuck.
    var able: [String] { names.filter { !stuck.contains($0) } }

    /// Those that may show an alert, and can.
    func able(for record: AlertRecord) -> [any AlertPresenter] {
        guard only == nil || only == record.id else { return [] }
        let wanted = record.alert.presenters
        return all.filter { !stuck.contains($0.name) && wanted?.contains($0.name) != false }
    }

    /// Notes that one does not clear its screen in time, or that it has ended; returns whether that
    /// is news.
    mutating func note(_ name: String, isStuck: Bool) -> Bool {
        isStuck ? stuck.insert(name).inserted : stuck.remove(name) != nil
    }
}
