import AlertCore
import SQLite

/// The searchable texts of an alert, as they are added to the index.
///
/// An entry can only be removed from the index with exactly the words that it was added with, so
/// this is the only place that determines them.
struct IndexedText {
    let values: [Value]
    let byteCount: Int

    /// Columns of the table `alerts`; others may follow in the query.
    enum Column: Int, ColumnList { case title, message, buttons, info }

    static let columns = Column.list

    /// Reads a row that begins with ``Column``.
    init(_ row: borrowing Row) {
        self.init([
            row.text(Column.title), row.text(Column.message),
            Self.labels(row.text(Column.buttons)), Self.strings(row.text(Column.info)),
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

    private static func labels(_ json: String) -> String {
        // Invalid JSON is a matter for the audit log; its words are found nevertheless.
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
