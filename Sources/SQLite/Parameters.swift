import CSQLite

/// The parameters of a statement that is about to run, to which values are bound in order; SQL
/// `NULL` for `nil`. Wraps <https://sqlite.org/c3ref/bind_blob.html>.
///
/// Gain, for a statement that every write runs: lists of ``Value``s take 9 % of the writer's time
/// with 512 waiting tasks (`perf record alertq-bench ask`, files in memory).
package struct Parameters: ~Copyable {
    private let handle: OpaquePointer
    var bytes = BoundBytes()
    /// How many parameters have been passed.
    private(set) var count: Int32 = 0
    /// The result code of the first value that could not be bound.
    private(set) var code = SQLITE_OK

    init(_ handle: OpaquePointer) { self.handle = handle }

    package mutating func bind(_ value: Int64?) {
        count += 1
        // A parameter is NULL until something is bound to it.
        guard let value else { return }
        note(sqlite3_bind_int64(handle, count, value))
    }

    package mutating func bind(_ value: Int) { bind(Int64(value)) }

    package mutating func bind(_ text: String?) {
        count += 1
        guard var text else { return }
        // The length is passed so that a NUL in the text does not truncate it.
        let length = UInt64(text.utf8.count)
        let start = text.withUTF8 { bytes.copy(UnsafeRawBufferPointer($0)) }
        note(sqlite3_bind_text64(handle, count, start, length, nil, UInt8(SQLITE_UTF8)))
    }

    package mutating func bind(_ blob: [UInt8]?) {
        count += 1
        guard let blob else { return }
        let start = blob.withUnsafeBytes { bytes.copy($0) }
        note(sqlite3_bind_blob64(handle, count, start, UInt64(blob.count), nil))
    }

    mutating func bind(_ values: [Value]) {
        for value in values {
            switch value {
            case .null: count += 1
            case .integer(let integer): bind(integer)
            case .text(let text): bind(text)
            case .blob(let blob): bind(blob)
            }
        }
    }

    private mutating func note(_ result: Int32) {
        if code == SQLITE_OK { code = result }
    }
}
