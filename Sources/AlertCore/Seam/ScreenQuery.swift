/// Which alert the screens of a queue may show next.
package struct ScreenQuery: Sendable, Hashable, Codable {
    /// The names of the presenters, one of which must be allowed to show it.
    package var presenters: [String]
    /// Further alerts that may be shown, such as that of an asker's own terminal; at most 64.
    package var own: [Alert.ID]
    /// The alerts to skip, in ascending order.
    package var except: [Alert.ID]
    /// Whether an alert with buttons, if there is one, comes first.
    package var prefersQuestions: Bool

    package init(
        for presenters: [String], own: [Alert.ID] = [], except: [Alert.ID] = [],
        prefersQuestions: Bool = false
    ) {
        self.presenters = presenters
        self.own = own
        self.except = except
        self.prefersQuestions = prefersQuestions
    }
}

extension ScreenQuery {
    /// The id of the alert to show among its own ones: the most urgent, and of those the oldest.
    package func firstOwn(of alerts: [AlertRecord]) -> Alert.ID? {
        let ready = alerts.filter { alert in
            alert.response == nil && alert.snoozedUntil == nil && own.contains(alert.id)
                && !except.contains(alert.id)
        }.sorted { ($1.alert.priority, $0.id) < ($0.alert.priority, $1.id) }
        let question = prefersQuestions ? ready.first { !$0.alert.buttons.isEmpty } : nil
        return (question ?? ready.first)?.id
    }
}
