import AlertCore

/// The labels of buttons where a program tells a choice by its label: each is there once.
struct DialogLabels: Sendable {
    let buttons: [String]
    /// The label that puts the alert off.
    let later: String

    init(_ alert: Alert) {
        var taken: Set<String> = []
        func unique(_ label: String) -> String {
            var candidate = label
            var count = 1
            while !taken.insert(candidate).inserted {
                count += 1
                candidate = "\(label) (\(count))"
            }
            return candidate
        }
        buttons = alert.buttons.map { unique(SafeText.line($0.title)) }
        later = unique("Later")
    }

    /// The choices in the order in which they stand, by their button's index; −1 is
    /// "later".
    ///
    /// Programs preselect the first one, which must not destroy anything.
    func order(_ alert: Alert) -> [Int] {
        let indices = Array(alert.buttons.indices)
        return alert.buttons.first?.role == .destructive ? [-1] + indices : indices + [-1]
    }

    func label(_ index: Int) -> String { index < 0 ? later : buttons[index] }
}
