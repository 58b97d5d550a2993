/// Finds the next alert, and skips those that can't be shown.
actor UpcomingAlerts: QueueActor {
    /// How long an alert is skipped: long enough that the others get their turn first.
    private static let pauses = Backoff(first: .seconds(2), longest: .seconds(600))

    nonisolated let context: QueueContext
    /// Alerts that the log contradicts.
    private var refused = Rests<Alert.ID>(pauses)
    /// Alerts for other screens that none of them shows.
    private var unshown = Rests<Alert.ID>(pauses)
    /// The other screens at that time, and what they could show.
    private var others = ScreenRoster()
    /// Alerts that the presenters here could not show, although others may.
    private var failed = Rests<Alert.ID>(pauses)
    /// Alerts that have been resolved or snoozed since the look began.
    private var changed: Set<Alert.ID> = []
    /// More than change during a look; a look may be followed by a show that lasts for days.
    private static let changeLimit = 10_000
    /// Whether the last alert on the screens had no buttons.
    private var hasShownNotice = false

    init(in context: QueueContext) { self.context = context }

    /// The result of a look for the next alert.
    struct Found: Sendable {
        var upcoming: Upcoming?
        /// The alerts that would have come first but contradict the log.
        var refused: [(id: Alert.ID, error: AlertError)] = []
        /// The reason why the queue can't be read.
        var error: AlertError?
    }

    /// The alert for presenters here and on other screens: one that others already show stays, else
    /// the next one.
    func choose(for here: LoopPresenters, besides others: ScreenRoster) async -> Found {
        var found = Found()
        let shown = Set(others.all.filter(\.isThere).compactMap(\.alert)).sorted()
        for id in shown where !unshown.isResting(id, at: context.clock.now()) {
            let current = await find(id)
            found.refused += current.refused
            guard current.upcoming == nil, current.error == nil else { return current }
        }
        note(others)
        return await next(for: here, besides: others, found)
    }

    /// Whether nothing is left for the presenters here; `false` if the queue can't be read.
    func isEmpty(for here: LoopPresenters) async -> Bool {
        let found = await next(for: here, besides: ScreenRoster(), Found(), passesOver: false)
        return found.upcoming.map { $0.record == nil } ?? false
    }

    private func next(
        for here: LoopPresenters, besides others: ScreenRoster, _ found: Found,
        passesOver: Bool = true
    ) async -> Found {
        var found = found
        let isAlone = passesOver && others.all.isEmpty
        var (presenters, own) = others.query
        if let only = here.only {
            own.append(only)
        } else {
            let able = passesOver ? here.able(at: context.clock.now()) : here.unstuck
            presenters = able + presenters.filter { !able.hasIdentical($0) }
        }
        while true {
            let except = passedOver(isAlone: isAlone)
            // After a notice, a question of any priority comes next: otherwise a stream of notices
            // would hold it up forever.
            let query = ScreenQuery(
                for: presenters, own: own, except: except, prefersQuestions: hasShownNotice)
            do throws(AlertError) {
                let upcoming = try await context.store.next(query)
                found.upcoming = upcoming
                for (id, error) in upcoming.refused.sorted(by: { $0.key < $1.key }) {
                    refused.add(id, at: context.clock.now())
                    found.refused.append((id, error))
                }
                // One look skips up to a hundred; others may wait after them.
                guard upcoming.record == nil, !upcoming.refused.isEmpty,
                    passedOver(isAlone: isAlone).count > except.count
                else { return found }
            } catch {
                found.error = error
                return found
            }
        }
    }

    /// One alert, if it waits and may be shown; one that the log contradicts is tried again only
    /// when it has rested.
    func find(_ id: Alert.ID?) async -> Found {
        guard let id, !refused.isResting(id, at: context.clock.now()) else { return Found() }
        do throws(AlertError) {
            // In this order: an alert that has ended by then is not shown.
            let waiting = try await context.store.waiting(besides: id)
            let found = try await context.store.find(.id(id))
            let record = found.record
            guard record.response == nil, !found.isOverdue, record.snoozedUntil == nil else {
                return Found()
            }
            var upcoming = Upcoming(record: record, expiry: found.expiry)
            upcoming.isCancelRequested = found.isCancelRequested
            upcoming.waiting = waiting
            return Found(upcoming: upcoming)
        } catch {
            guard case .inconsistent = error else { return Found(error: error) }
            refused.add(id, at: context.clock.now())
            return Found(refused: [(id, error)])
        }
    }

    private func passedOver(isAlone: Bool) -> [Alert.ID] {
        let now = context.clock.now()
        let all = [refused, unshown] + (isAlone ? [failed] : [])
        return Set(all.flatMap { $0.keys(at: now) }).sorted()
    }

    /// Lets other screens retry alerts that the previous ones did not show.
    private func note(_ roster: ScreenRoster) {
        let screens = roster.all.filter { $0.isThere && !$0.isBusy }
        let seen = ScreenRoster(followers: screens.map(\.asOffered))
        guard seen != others else { return }
        others = seen
        unshown.removeAll()
    }

    /// Skips an alert that no other screen shows, for a time.
    func noteUnshown(_ id: Alert.ID) { unshown.add(id, at: context.clock.now()) }

    /// Records that the presenters here could not show an alert.
    func noteFailure(with id: Alert.ID) { failed.add(id, at: context.clock.now()) }

    /// Skips an alert that the log contradicts, as found when a choice was stored.
    func noteRefusal(of id: Alert.ID) { refused.add(id, at: context.clock.now()) }

    func noteCurrent(_ alert: Alert) { hasShownNotice = alert.buttons.isEmpty }

    /// Whether a presenter here can show an alert now, and the log does not contradict it.
    func mayTry(_ record: AlertRecord, on here: LoopPresenters) -> Bool {
        let now = context.clock.now()
        return here.canShow(record, at: now) && !refused.isResting(record.id, at: now)
    }

    /// Forgets earlier changes: a look sees them from here on.
    func beginLook() { changed = [] }

    /// Records that an alert, which may just have been looked up, has been resolved or snoozed.
    func noteChange(of id: Alert.ID) {
        if changed.count < Self.changeLimit { changed.insert(id) }
        forget(id)
    }

    /// Whether an alert has been resolved or snoozed since the look began.
    func hasChanged(_ id: Alert.ID) -> Bool { changed.contains(id) }

    /// Forgets an alert's failures.
    func forget(_ id: Alert.ID) {
        refused.remove(id)
        unshown.remove(id)
        failed.remove(id)
    }

    /// When the first of the skipped alerts may be tried again.
    func nextTry() -> ClockReading? {
        let now = context.clock.now()
        return now.earliest(of: [refused, unshown, failed].compactMap { $0.nextEnd(after: now) })
    }
}
