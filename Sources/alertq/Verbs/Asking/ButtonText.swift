import AlertQueue
import TextFormats

/// Buttons as people type them: `[ID=]LABEL`.
enum ButtonText {
    /// Splits at the first `=` if the text before it is a plain identifier.
    ///
    /// `yes=Yes, go on` has the id `yes`. A label that contains `=` itself is written with a `=`
    /// before it: `=a=b` is the label `a=b`.
    static func parse(_ text: String, role: Alert.Button.Role?) -> Alert.Button {
        guard let (id, label) = text.split(atFirst: "=") else {
            return Alert.Button(text, role: role)
        }
        if id.isEmpty { return Alert.Button(label, role: role) }
        guard id.isPlainIdentifier else { return Alert.Button(text, role: role) }
        return Alert.Button(label, id: id, role: role)
    }
}

extension Argument where Value == Alert.Button {
    static func newButton(_ role: Alert.Button.Role? = nil) -> Argument {
        Argument("[ID=]LABEL", .newButton) { ButtonText.parse($0, role: role) }
    }
}
