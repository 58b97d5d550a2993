/// Which alert the screens of a queue may show next.
package struct ScreenQuery: Sendable, Hashable {
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
