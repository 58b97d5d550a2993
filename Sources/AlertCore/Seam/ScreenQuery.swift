/// Which alert a screen may show next.
package struct ScreenQuery: Sendable, Hashable {
    /// The names of the presenters, one of which has to be allowed to show it.
    package var presenters: [String]
    /// The only alert that may be shown; `nil` for any.
    package var only: Alert.ID?
    /// The alerts that are passed over, in ascending order.
    package var except: [Alert.ID]
    /// Whether an alert with buttons comes first, if there is one.
    package var prefersQuestions: Bool

    package init(
        for presenters: [String], only: Alert.ID? = nil, except: [Alert.ID] = [],
        prefersQuestions: Bool = false
    ) {
        self.presenters = presenters
        self.only = only
        self.except = except
        self.prefersQuestions = prefersQuestions
    }
}
