/// An option that a verb declares: how it is written, and the property that it sets.
///
/// An option without an argument sets a `Bool`. One with an argument sets a value of the type that
/// its ``Argument`` reads, or appends to an array of them. So a verb reads what it declares, and
/// nothing else:
///
///     private var last: Int?
///     private var ids: [Alert.ID] = []
///
///     static let options: [Option<Self>] = [
///         Option("all", \.listsAll, help: "List them all"),
///         Option("last", .count(), \.last, help: "Only the last COUNT entries"),
///         Option("id", .alertID, each: \.ids, help: "Only these alerts"),
///     ]
struct Option<Target>: Sendable {
    let syntax: OptionSyntax
    /// The default as the help prints it; `nil` where the help mentions none.
    private let standard: @Sendable (Target) -> String?
    private let set: @Sendable (inout Target, String?) throws(UsageError) -> Void

    /// An option without an argument.
    init(
        _ name: String, short: Character? = nil,
        _ property: WritableKeyPath<Target, Bool> & Sendable, help: String
    ) {
        syntax = OptionSyntax(
            name: name, short: short, placeholder: nil, help: help, isRepeatable: false,
            kind: .text)
        standard = { _ in nil }
        set = { target, _ in target[keyPath: property] = true }
    }

    /// An option whose property has a default value.
    init<Value>(
        _ name: String, short: Character? = nil, _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Value> & Sendable, help: String
    ) {
        self.init(name, short, argument, isRepeatable: false, help) { target, value in
            target[keyPath: property] = value
        }
    }

    /// An option whose property has a default, and records whether the option was given.
    ///
    /// - Parameter text: The default as the help prints it, after what the option does.
    init<Value>(
        _ name: String, short: Character? = nil, _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Defaulted<Value>> & Sendable, help: String,
        default text: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            name, short, argument, isRepeatable: false, help,
            standard: { text($0[keyPath: property].wrappedValue) },
            { target, value in target[keyPath: property].give(value) })
    }

    /// An option whose property has a default that the help prints, after what the option does.
    init<Value>(
        _ name: String, _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Value> & Sendable, help: String,
        default text: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            name, nil, argument, isRepeatable: false, help,
            standard: { text($0[keyPath: property]) },
            { target, value in target[keyPath: property] = value })
    }

    /// An option whose property is `nil` where it is not given.
    init<Value>(
        _ name: String, short: Character? = nil, _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Value?> & Sendable, help: String
    ) {
        self.init(name, short, argument, isRepeatable: false, help) { target, value in
            target[keyPath: property] = value
        }
    }

    /// An option whose argument may be left out before another option, and at the end of the line.
    ///
    /// - Parameter flag: Set where the argument is left out.
    init<Value>(
        _ name: String, _ argument: Argument<Value>,
        _ property: WritableKeyPath<Target, Value?> & Sendable,
        orAlone flag: WritableKeyPath<Target, Bool> & Sendable, help: String
    ) {
        let option = Self(name, argument, property, help: help)
        var syntax = option.syntax
        syntax.mayBeAlone = true
        self.init(syntax) { target, text throws(UsageError) in
            if text == nil { target[keyPath: flag] = true } else { try option.set(&target, text) }
        }
    }

    /// An option that appends to a list, in the order of the command line. Several options may
    /// append to the same one.
    init<Value>(
        _ name: String, short: Character? = nil, _ argument: Argument<Value>,
        each list: WritableKeyPath<Target, [Value]> & Sendable, isRepeatable: Bool = true,
        help: String
    ) {
        self.init(name, short, argument, isRepeatable: isRepeatable, help) { target, value in
            target[keyPath: list].append(value)
        }
    }

    private init<Value>(
        _ name: String, _ short: Character?, _ argument: Argument<Value>, isRepeatable: Bool,
        _ help: String, standard: @escaping @Sendable (Target) -> String? = { _ in nil },
        _ store: @escaping @Sendable (inout Target, Value) -> Void
    ) {
        let syntax = OptionSyntax(
            name: name, short: short, placeholder: argument.placeholder, help: help,
            isRepeatable: isRepeatable, kind: argument.kind)
        self.init(syntax, standard: standard) { target, text throws(UsageError) in
            let value: Value
            do {
                value = try argument.read(text ?? "")
            } catch {
                throw UsageError("--\(name): \(error)")
            }
            store(&target, value)
        }
    }

    private init(
        _ syntax: OptionSyntax, standard: @escaping @Sendable (Target) -> String? = { _ in nil },
        set: @escaping @Sendable (inout Target, String?) throws(UsageError) -> Void
    ) {
        self.syntax = syntax
        self.standard = standard
        self.set = set
    }

    /// `--help`, with which the values of other options are not read.
    static var help: Option { Option(.help) { _, _ in } }

    /// How it is written, with the default that the target has.
    func syntax(in target: Target) -> OptionSyntax {
        standard(target).map { syntax.adding(" (default: \($0))") } ?? syntax
    }

    /// Reads the argument that was given, or records an option that takes none.
    func read(_ text: String?, into target: inout Target) throws(UsageError) {
        try set(&target, text)
    }

    /// The same option for a type that contains the target.
    func within<Whole>(_ part: WritableKeyPath<Whole, Target> & Sendable) -> Option<Whole> {
        let read = { @Sendable [set] (whole: inout Whole, text: String?) throws(UsageError) in
            try set(&whole[keyPath: part], text)
        }
        return Option<Whole>(
            syntax, standard: { [standard] in standard($0[keyPath: part]) }, set: read)
    }
}
