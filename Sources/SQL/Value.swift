/// A value that a statement binds.
package enum Value: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package static func integer(_ value: Int) -> Value { .integer(Int64(value)) }

    package static func optional(_ value: Int64?) -> Value { value.map(Value.integer) ?? .null }
    package static func optional(_ value: String?) -> Value { value.map(Value.text) ?? .null }
    package static func optional(_ value: [UInt8]?) -> Value { value.map(Value.blob) ?? .null }
}

/// Texts are equal if their bytes are, as in a database.
extension Value: Hashable {
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.blob(let left), .blob(let right)): left == right
        case (.null, _), (.integer, _), (.text, _), (.blob, _): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let integer): hasher.combine(integer)
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .blob(let blob): hasher.combine(blob)
        }
    }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
}
