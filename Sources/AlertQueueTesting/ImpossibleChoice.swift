import AlertCore

/// A choice that no person could make, such as a button that the alert does not have.
///
/// The presenter whose script made it throws it, so that the manager hears of it too.
public struct ImpossibleChoice: Error, CustomStringConvertible {
    /// Why nobody could choose so.
    public let description: String

    init?(_ choice: PresenterChoice, on alert: Alert) {
        switch choice {
        case .button(let index):
            guard !alert.buttons.indices.contains(index) else { return nil }
            let count = alert.buttons.count
            description =
                "“\(alert.title)” has no button \(index): "
                + (count == 0 ? "it has none" : "the last one is \(count - 1)")
        case .later(let duration?):
            do throws(AlertError) {
                try Alert.check(duration, "snooze")
                return nil
            } catch {
                description = "“\(alert.title)” can't come later: \(error)"
            }
        case .later(nil), .close:
            return nil
        }
    }
}
