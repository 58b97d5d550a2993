/// An argument that is not an option, known by its position: how it is written, and the property
/// that it sets.
struct Operand<Target>: Sendable {
    let syntax: OperandSyntax
    private let set: @Sendable (inout Target, String) throws(UsageError) -> Void

    /// An operand that has to be given.
    init<Value>(
        _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Required<Value>> & Sendable
    ) {
        self.init(argument, .required) { $0[keyPath: property].wrappedValue = $1 }
    }

    /// An operand that may be missing.
    init<Value>(
        _ argument: Argument<Value>, _ property: WritableKeyPath<Target, Value?> & Sendable
    ) {
        self.init(argument, .optional) { $0[keyPath: property] = $1 }
    }

    /// Any number of operands: all that the others leave. A verb has at most one such list.
    init<Value>(
        _ argument: Argument<Value>, each list: WritableKeyPath<Target, [Value]> & Sendable
    ) {
        self.init(argument, .any) { $0[keyPath: list].append($1) }
    }

    private init<Value>(
        _ argument: Argument<Value>, _ count: OperandSyntax.Count,
        _ store: @escaping @Sendable (inout Target, Value) -> Void
    ) {
        syntax = OperandSyntax(name: argument.placeholder, count: count, kind: argument.kind)
        set = { target, text throws(UsageError) in store(&target, try argument.read(text)) }
    }

    func read(_ text: String, into target: inout Target) throws(UsageError) {
        try set(&target, text)
    }
}
