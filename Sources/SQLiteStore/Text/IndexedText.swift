import AlertCore
import SQLite

/// The texts of an alert that can be searched, as they were put into the index.
///
/// An entry can be taken out of the index only with exactly the words that it was put in with, so
/// only this says what they are.
struct IndexedText {
    let values: [Value]
    let byteCount: Int

    /// Reads title, message, buttons and info from a column on.
    init(_ row: borrowing Row, from column: Int32) {
        self.init([
            row.text(column), row.text(column + 1), Self.labels(row.text(column + 2)),
            Self.strings(row.text(column + 3)),
        ])
    }

    init(_ alert: Alert) {
        self.init([
            alert.title, alert.message ?? "", Self.labels(alert.buttons),
            Self.strings(alert.userInfo),
        ])
    }

    private init(_ texts: [String]) {
        values = texts.map(Value.text)
        byteCount = texts.reduce(0) { $0 + $1.utf8.count }
    }

    /// Which columns of the table `alerts` these are.
    static let columns = "title, message, buttons, info"

    private static func labels(_ json: String) -> String {
        // What can't be understood is a matter of the audit log; its words are found all the same.
        guard let buttons = try? StoredJSON.buttons(json) else { return json }
        return labels(buttons)
    }

    private static func labels(_ buttons: [Alert.Button]) -> String {
        buttons.map(\.title).joined(separator: "\n")
    }

    private static func strings(_ json: String) -> String {
        guard let strings = try? StoredJSON.strings(json) else { return json }
        return self.strings(strings)
    }

    private static func strings(_ strings: [String: String]) -> String {
        strings.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map(\.value).joined(separator: "\n")
    }
}
