/// A page of records.
package struct RecordPage: Sendable, Codable {
    package var records: [AlertRecord]
    /// The alerts on the page, including those whose records can't be read.
    package var ids: [Alert.ID]
    /// Where to continue; `nil` if nothing has been read.
    package var next: Int64?
    /// Whether there were no more records when the page was read.
    package var isEnd: Bool

    /// The alerts on the page whose records can't be read.
    package var unreadable: [Alert.ID] {
        let read = Set(records.map(\.id))
        return ids.filter { !read.contains($0) }
    }

    package init(records: [AlertRecord], next: Int64?, isEnd: Bool) {
        self.records = records
        ids = records.map(\.id)
        self.next = next
        self.isEnd = isEnd
    }
}
