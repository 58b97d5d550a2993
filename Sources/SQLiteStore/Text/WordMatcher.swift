import AlertCore
import SQLite

/// Finds words in texts that are not in the index on disk, with a temporary index in memory.
enum WordMatcher {
    /// The numbers of the texts that contain the words, highest first.
    static func matches(
        _ words: SearchText, among texts: [(sequence: Int64, text: IndexedText)]
    ) throws -> [Int64] {
        let memory = try Database(path: ":memory:", access: .create)
        try memory.execute(index + "; BEGIN")
        for row in texts { try memory.addToIndex(row.sequence, row.text) }
        return try memory.rows(
            "SELECT rowid FROM text_index WHERE text_index MATCH ? ORDER BY rowid DESC",
            .text(words.expression)
        ) { $0.integer() }
    }

    /// The statement of the index in a queue's file.
    private static let index = Schema.current.objects.first { $0.name == "text_index" }?.sql ?? ""
}

extension SearchText {
    /// Of some alerts, in their order, those that contain the words; waiting alerts are not in the
    /// index.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)``.
    package func matches(_ records: [AlertRecord]) throws(AlertError) -> [AlertRecord] {
        let texts = records.enumerated().map { number, record in
            (sequence: Int64(number), text: IndexedText(record.alert))
        }
        let found = try storing("search the texts") {
            try WordMatcher.matches(self, among: texts)
        }
        return found.reversed().map { records[Int($0)] }
    }
}
