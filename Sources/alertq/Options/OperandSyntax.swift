/// How an operand is written.
struct OperandSyntax: Sendable, Hashable {
    /// How often it can be given.
    enum Count: Sendable {
        case required, optional, any
    }

    let name: String
    let count: Count
    /// What a shell can offer for it.
    let kind: ArgumentKind

    /// Its form in a usage line: in brackets if it may be missing, with dots if it may be repeated.
    var usage: String {
        switch count {
        case .required: name
        case .optional: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}
