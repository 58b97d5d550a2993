/// How an operand is written.
package struct OperandSyntax: Sendable, Hashable {
    /// How often it can be given.
    package enum Count: Sendable {
        case required, optional, any
    }

    package let name: String
    package let count: Count
    /// What a shell can offer for it.
    package let kind: ArgumentKind

    /// As a line of usage has it: in brackets what may be missing, with dots what may be repeated.
    package var usage: String {
        switch count {
        case .required: name
        case .optional: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}
