/// What an erasure leaves of an alert's buttons: no labels, and no ids that are labels.
package struct ErasedButtons {
    package let buttons: [PartialButton]
    /// The button that applies if nobody answers, unless its id is gone.
    package let defaultButton: String?

    /// Of an alert that has its texts.
    package init(of alert: Alert) {
        buttons = Self.left(of: alert.buttons)
        defaultButton = alert.defaultButton.flatMap { [buttons] name in
            buttons.contains { $0.id?.isIdentical(to: name) ?? false } ? name : nil
        }
    }

    /// Of an alert whose texts are gone, as its row has them.
    package init(stored buttons: [PartialButton], defaultButton: String?) {
        self.buttons = buttons
        self.defaultButton = defaultButton
    }

    package static func left(of buttons: [Alert.Button]) -> [PartialButton] {
        buttons.map { button in
            PartialButton(
                id: button.id.isIdentical(to: button.title) ? nil : button.id, title: nil,
                role: button.role?.rawValue)
        }
    }
}
