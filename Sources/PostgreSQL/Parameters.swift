import SQL

/// The values of one statement as libpq takes them: blobs in binary, all others as text.
struct Parameters {
    /// The most that one statement may bind, in bytes. The server's own limit for a message is
    /// 1 GiB, which would have to be in memory several times.
    static let maximumBytes = 64 << 20
    /// The protocol counts parameters in 16 bits.
    static let maximumCount = 65_535

    /// Each value with a NUL after it.
    private var bytes: [UInt8] = []
    /// Where each value begins; `nil` for SQL `NULL`.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Fails for values that can't be stored.
    init(of statement: Statement) throws(PostgreSQLError) {
        guard statement.values.count <= Self.maximumCount else {
            throw PostgreSQLError(.refused("too many parameters"), statement.sql)
        }
        for value in statement.values {
            starts.append(value == .null ? nil : bytes.count)
            let start = bytes.count
            switch value {
            case .null: break
            case .integer(let integer): bytes += String(integer).utf8
            case .text(let text):
                // As a parameter it would end there without an error.
                guard !text.utf8.contains(0) else {
                    throw PostgreSQLError(
                        .refused("a text contains U+0000, which PostgreSQL can't store"),
                        statement.sql)
                }
                bytes += text.utf8
            case .blob(let blob): bytes += blob
            }
            guard bytes.count <= Self.maximumBytes else {
                let limit = "the values are longer than \(Self.maximumBytes >> 20) MiB"
                throw PostgreSQLError(.refused(limit), statement.sql)
            }
            lengths.append(Int32(bytes.count - start))
            if case .blob = value { formats.append(1) } else { formats.append(0) }
            bytes.append(0)
        }
    }

    /// Calls a body with the count, and the arrays of pointers, lengths and formats.
    func withArrays<Result>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>,
            UnsafePointer<Int32>
        ) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            let pointers = starts.map { start in
                start.flatMap { bytes.baseAddress?.advanced(by: $0) }?
                    .assumingMemoryBound(to: CChar.self)
            }
            return body(Int32(pointers.count), pointers, lengths, formats)
        }
    }
}
