import AlertCore
import TextFormats

/// Labels of buttons for programs that report a choice by its label: no two are the same.
struct DialogLabels: Sendable {
    let buttons: [String]
    /// The label of the choice that snoozes the alert.
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
        buttons = alert.buttons.map { unique(SafeText.title($0.title)) }
        later = unique("Later")
    }

    /// The indices of the buttons in the order of the window; −1 is "Later".
    ///
    /// Programs preselect the first one, which must not be destructive.
    func order(_ alert: Alert) -> [Int] {
        let indices = Array(alert.buttons.indices)
        return alert.buttons.first?.role == .destructive ? [-1] + indices : indices + [-1]
    }

    func label(_ index: Int) -> String { index < 0 ? later : buttons[index] }
}
