import AlertCore
import SQLite

/// Finds words in texts that no index on the disk has, by an index of only these in memory.
enum WordMatcher {
    /// The numbers of the texts that have the words, highest first.
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

    /// The index that a queue's file has on the disk.
    private static let index = Schema.current.objects.first { $0.name == "text_index" }?.sql ?? ""
}

extension SearchText {
    /// Those of some alerts that have the words, in their order; what waits stands in no index.
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
