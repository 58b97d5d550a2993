/// Some records.
package struct RecordPage: Sendable {
    package var records: [AlertRecord]
    /// The alerts that the page is of, also those whose records can't be read.
    package var ids: [Alert.ID]
    /// Where to go on; `nil` where nothing has been read.
    package var next: Int64?
    /// Whether there was nothing more when it was read.
    package var isEnd: Bool

    package init(records: [AlertRecord], next: Int64?, isEnd: Bool) {
        self.records = records
        ids = records.map(\.id)
        self.next = next
        self.isEnd = isEnd
    }
}
