import AlertQueue
import TextFormats

extension ShellText {
    /// The command line that answers an alert with one of its buttons, on any machine.
    ///
    /// - Parameter fields: The fields for which a value is to be typed.
    static func answer(
        _ id: Alert.ID, button: String, fields: [Alert.Field], path: String
    ) -> String {
        let option = QueueChoice.option(forPath: path, isForOthers: true)
        let options = [option].compactMap { $0 } + fields.map { "--set " + quoted($0.id) + "=…" }
        // A word that begins with a dash would be taken for an option.
        let words =
            button.unicodeScalars.first == "-"
            ? options + ["--", "\(id)", quoted(button)] : ["\(id)", quoted(button)] + options
        return (["alertq", "answer"] + words).joined(separator: " ")
    }

    /// The command line of a verb with its operands, for the queue at a path and for this account.
    static func verb(_ words: String, path: String) -> String {
        let option = QueueChoice.option(forPath: path, isForOthers: false)
        return "alertq \(words)" + (option.map { " " + $0 } ?? "")
    }

    /// The command line that takes an alert back.
    static func withdrawal(of id: Alert.ID, path: String) -> String {
        verb("withdraw \(id)", path: path)
    }
}
