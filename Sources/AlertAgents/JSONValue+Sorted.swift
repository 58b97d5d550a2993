import TextFormats

extension JSONValue {
    /// The value without members that are null, which count as absent, and with the others in the
    /// order of their names: two that mean the same are the same.
    var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.filter { if case .null = $0.value { false } else { true } }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                    .map { ($0.key, $0.value.sorted) })
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}
