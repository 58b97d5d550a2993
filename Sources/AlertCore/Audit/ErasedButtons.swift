import TextFormats

/// What an erasure leaves of an alert's buttons: no labels, and no ids made from them.
package struct ErasedButtons {
    package let buttons: [PartialButton]
    /// The button that applies if nobody answers, unless its id was erased.
    package let defaultButton: String?

    /// What an erasure would leave of an alert that still has its texts.
    package init(of alert: Alert) {
        buttons = Self.left(of: alert.buttons)
        defaultButton = alert.defaultButton.flatMap { [buttons] name in
            buttons.contains { $0.id?.isIdentical(to: name) ?? false } ? name : nil
        }
    }

    /// What is left of an alert whose texts are erased, as stored in its row.
    package init(stored buttons: [PartialButton], defaultButton: String?) {
        self.buttons = buttons
        self.defaultButton = defaultButton
    }

    package static func left(of buttons: [Alert.Button]) -> [PartialButton] {
        buttons.map { button in
            PartialButton(
                id: button.hasIDFromLabel ? nil : button.id, title: nil,
                role: button.role?.rawValue)
        }
    }
}
