/// A key of a source.
struct KeyName: Hashable {
    let source: SourceName
    let key: [UInt8]

    init(_ source: SourceName, _ key: String) {
        self.source = source
        self.key = Array(key.utf8)
    }
}
