/// The alerts that a screen skips for a time, so that the others get their turn first.
struct SkippedAlerts {
    private static let pauses = Backoff(first: .seconds(2), longest: .seconds(600))

    /// Alerts that the log contradicts.
    var refused = Backoffs<Alert.ID>(pauses)
    /// Alerts for other screens that none of them shows.
    var unshown = Backoffs<Alert.ID>(pauses)
    /// Alerts that the presenters here could not show, although others may.
    var failed = Backoffs<Alert.ID>(pauses)
    /// The other screens that unshown alerts were left to, and what they could show.
    private var others = ScreenRoster()

    /// The skipped alerts at a moment, each in ascending order.
    struct Now {
        var refused: [Alert.ID]
        var unshown: [Alert.ID]
        var failed: [Alert.ID]
        private let others: ScreenRoster

        init(_ skipped: SkippedAlerts, at now: ClockReading) {
            refused = skipped.refused.keys(at: now)
            unshown = skipped.unshown.keys(at: now)
            failed = skipped.failed.keys(at: now)
            others = skipped.others
        }

        /// The alerts to skip while these are the other screens. What was left to other screens
        /// than these, which did not show it, is not skipped: these may show it.
        func alerts(besides others: ScreenRoster, isAlone: Bool) -> [Alert.ID] {
            let unshown = others.offers == self.others ? unshown : []
            return Set(refused + unshown + (isAlone ? failed : [])).sorted()
        }
    }

    func now(_ now: ClockReading) -> Now { Now(self, at: now) }

    /// Lets other screens retry alerts that the previous ones did not show.
    mutating func note(_ roster: ScreenRoster) {
        guard roster.offers != others else { return }
        others = roster.offers
        unshown.removeAll()
    }

    mutating func forget(_ id: Alert.ID) {
        refused.remove(id)
        unshown.remove(id)
        failed.remove(id)
    }

    /// When the first of them may be tried again.
    func nextTry(after now: ClockReading) -> ClockReading? {
        now.earliest(of: [refused, unshown, failed].compactMap { $0.nextEnd(after: now) })
    }
}

extension ScreenRoster {
    /// The screens that can show something, without what they show.
    fileprivate var offers: ScreenRoster {
        ScreenRoster(followers: all.filter { $0.isThere && !$0.isBusy }.map(\.asOffered))
    }
}
