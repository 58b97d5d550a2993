import AlertCore
import TextFormats

/// What a person is told about a field, on the screen and at a prompt.
extension Alert.Field {
    /// What may be entered, in few words; those of the asker among them are not safe to print yet.
    var hints: [String] {
        var hints = (isRequired || initialValue != nil ? [] : ["optional"]) + bounds
        if case .text = kind, let placeholder { hints.append("such as \(placeholder)") }
        return hints
    }

    /// The options of a list; none for other fields.
    var options: [Option] {
        switch kind {
        case .choice(let options), .choices(let options, _): options
        case .text, .integer, .number, .boolean: []
        }
    }

    /// A value as a person reads it: options by their titles.
    func text(of value: Alert.Value) -> String {
        let title = { (id: String) in
            options.first { $0.id.isIdentical(to: id) }?.title ?? id
        }
        return switch value {
        case .boolean(let isYes): isYes ? "yes" : "no"
        case .list(let ids): ids.map(title).joined(separator: ", ")
        case .text(let text): title(text)
        case .integer, .number: value.text
        }
    }

    /// What goes with an answer instead of no value: a field that was emptied must not get its
    /// initial value again.
    var emptied: Alert.Value? { initialValue == nil ? nil : .text("") }

    /// Why there must be a value.
    static let missing = "It must have a value."

    /// Why a value was refused; it may quote the value.
    static func refusal(_ error: AlertError) -> String {
        guard case .invalid(_, let reason) = error else { return "\(error)" }
        return "It \(reason)."
    }
}
