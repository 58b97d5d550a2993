import CSQLite

/// The parameters of a statement that is about to run, to which a closure binds values in order;
/// `nil` is SQL `NULL`. Wraps <https://sqlite.org/c3ref/bind_blob.html>.
///
/// For example: `INSERT INTO things (id, name) VALUES (?, ?)` runs with a closure that binds 7, and
/// then `"seven"`.
package struct Parameters: ~Copyable {
    private let handle: OpaquePointer
    /// How many values have been passed.
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
        text.withUTF8 { text in
            // The length is passed so that a NUL in the text does not truncate it.
            note(
                sqlite3_bind_text64(
                    handle, count, text.baseAddress, UInt64(text.count), csqlite_transient(),
                    UInt8(SQLITE_UTF8)))
        }
    }

    package mutating func bind(_ blob: [UInt8]?) {
        count += 1
        guard let blob else { return }
        blob.withUnsafeBytes { blob in
            note(
                sqlite3_bind_blob64(
                    handle, count, blob.baseAddress, UInt64(blob.count), csqlite_transient()))
        }
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

    /// Forgets all values: the statement has been reset, and its parameters are NULL again.
    mutating func removeAll() {
        count = 0
        code = SQLITE_OK
    }

    private mutating func note(_ result: Int32) {
        if code == SQLITE_OK { code = result }
    }
}
