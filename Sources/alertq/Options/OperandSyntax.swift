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

    /// As a line of usage has it: in brackets what may be missing, with dots what may be repeated.
    var usage: String {
        switch count {
        case .required: name
        case .optional: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}
