import AlertCore

/// A choice that no person could make, such as a button that the alert does not have, or a value
/// that does not fit its field.
///
/// The presenter throws it, so that the manager gets it, too.
public struct ImpossibleChoice: Error, CustomStringConvertible {
    /// The reason why nobody could make that choice.
    public let description: String

    init?(_ choice: PresenterChoice, on alert: Alert) {
        switch choice {
        case .button(let index, let input):
            guard !alert.buttons.indices.contains(index) else {
                do throws(AlertError) {
                    _ = try alert.completed(input, buttonAt: index)
                    return nil
                } catch {
                    description = "“\(alert.title)” can't be answered so: \(error)"
                    return
                }
            }
            let count = alert.buttons.count
            description =
                "“\(alert.title)” has no button \(index): "
                + (count == 0 ? "it has none" : "the last one is \(count - 1)")
        case .later(let duration?):
            do throws(AlertError) {
                try Alert.check(duration, "snooze")
                return nil
            } catch {
                description = "“\(alert.title)” can't be snoozed: \(error)"
            }
        case .later(nil), .close:
            return nil
        }
    }
}
