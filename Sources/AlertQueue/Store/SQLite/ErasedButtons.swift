/// What an erasure leaves of an alert's buttons: no labels, and no ids that are labels.
struct ErasedButtons {
    let buttons: [StoredJSON.PartialButton]
    /// The button that applies if nobody answers, unless its id is gone.
    let defaultButton: String?

    /// Of an alert that has its texts.
    init(of alert: Alert) {
        buttons = Self.left(of: alert.buttons)
        defaultButton = alert.defaultButton.flatMap { [buttons] name in
            buttons.contains { $0.id?.isIdentical(to: name) ?? false } ? name : nil
        }
    }

    /// Of an alert whose texts are gone, as its row has them.
    init(stored buttons: [StoredJSON.PartialButton], defaultButton: String?) {
        self.buttons = buttons
        self.defaultButton = defaultButton
    }

    static func left(of buttons: [Alert.Button]) -> [StoredJSON.PartialButton] {
        buttons.map { button in
            StoredJSON.PartialButton(
                id: button.id.isIdentical(to: button.title) ? nil : button.id, title: nil,
                role: button.role?.rawValue)
        }
    }

    var json: String { StoredJSON.encode(buttons) }
}
