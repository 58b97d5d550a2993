/// The next alert to show, if there is one.
package struct Upcoming: Sendable, Codable {
    package var record: AlertRecord?
    /// The time until its deadline; `nil` if it has none.
    package var timeLeft: Duration?
    /// Whether a cancel was requested from a screen that has not carried it out.
    package var isCancelRequested = false
    /// The alerts that wait after it.
    package var waiting = WaitingAlerts()
    /// Up to a hundred alerts that would have come first, but contradict the log.
    package var refused: [Alert.ID: AlertError] = [:]

    package init(record: AlertRecord? = nil, timeLeft: Duration? = nil) {
        self.record = record
        self.timeLeft = timeLeft
    }

    /// The first alert that a query finds and the log confirms: one that the log contradicts is never
    /// shown, and never blocks others.
    ///
    /// - Parameter look: Returns the next alert, with whether its cancel was requested; throws
    ///   ``AlertError/inconsistent(_:_:)`` for one that the log contradicts.
    package init(
        for query: ScreenQuery, at now: ClockReading,
        _ look: (ScreenQuery) throws -> (StoredAlert, isCancelRequested: Bool)?
    ) throws {
        self.init()
        while refused.count < 100 {
            var rest = query
            rest.except += refused.keys
            do {
                guard let (alert, isCancelRequested) = try look(rest) else { return }
                record = alert.record.current(at: now)
                timeLeft = alert.expiry.map(now.time)
                self.isCancelRequested = isCancelRequested
                return
            } catch let error as AlertError {
                guard case .inconsistent(let id?, _) = error, refused[id] == nil else {
                    throw error
                }
                refused[id] = error
            }
        }
    }
}
