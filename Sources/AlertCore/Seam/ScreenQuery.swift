/// Which alert the screens of a queue may show next.
package struct ScreenQuery: Sendable, Hashable {
    /// The names of the presenters, one of which has to be allowed to show it.
    package var presenters: [String]
    /// The alerts that may be shown besides, such as that of an asker's own terminal; 64 at most.
    package var own: [Alert.ID]
    /// The alerts that are passed over, in ascending order.
    package var except: [Alert.ID]
    /// Whether an alert with buttons comes first, if there is one.
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
