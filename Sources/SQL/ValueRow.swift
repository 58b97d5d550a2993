/// A row of values that no database holds.
package struct ValueRow: SQLRow {
    private let values: [Value]

    package init(_ values: [Value]) { self.values = values }

    package func value(at column: Int32) -> Value { values[Int(column)] }

    package func isNull(at column: Int32) -> Bool { value(at: column) == .null }

    package func integer(at column: Int32) -> Int64 {
        if case .integer(let integer) = value(at: column) { integer } else { 0 }
    }

    package func optionalText(at column: Int32) -> String? {
        if case .text(let text) = value(at: column) { text } else { nil }
    }

    package func blob(at column: Int32) -> [UInt8]? {
        if case .blob(let blob) = value(at: column) { blob } else { nil }
    }

    package func isInteger(at column: Int32) -> Bool {
        if case .integer = value(at: column) { true } else { false }
    }

    package func holds(_ text: String, at column: Int32) -> Bool {
        value(at: column) == .text(text)
    }
}
