import TextFormats

extension Alert {
    /// Something that a question asks for beside its buttons: a text, a number, a choice.
    ///
    /// The kinds and their bounds are those that the Model Context Protocol allows in a form, a
    /// subset of JSON Schema:
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>.
    ///
    /// ```swift
    /// var alert = Alert("Rename the volume?", buttons: ["Rename", .cancel("Keep")])
    /// alert.addTextField("name") { $0.placeholder = "backup-2026" }
    /// alert.fields.append(Alert.Field("copies", .integer(1...3), initialValue: .integer(1)))
    /// let response = try await manager.ask(alert)
    /// print(response.values["name"]?.text ?? "no name")
    /// ```
    ///
    /// There are no fields for secrets, because the queue keeps what it is told: ask for a password
    /// with systemd-ask-password(1).
    public struct Field: Sendable, Equatable, Identifiable {
        /// What programs call the field: 1 to 64 letters, digits, `_`, `-` and `.`, unique in its
        /// alert.
        public let id: String
        /// The label that a person reads, 1 to 256 bytes; defaults to the id.
        public var title: String
        /// More about it, at most 1 KiB.
        public var detail: String?
        /// What may be entered.
        public var kind: Kind
        /// Whether it has to be filled in for every button but the cancel button. A blank text, and a
        /// list of nothing, count as not filled in.
        public var isRequired: Bool
        /// A text of at most 256 bytes that shows what is expected, and is not a value.
        public var placeholder: String?
        /// What the field has at first, and if a person's or a program's answer doesn't give it a
        /// value. An alert that expires has no values.
        public var initialValue: Value?

        /// Creates a field; the alert's fields are checked when it is asked.
        public init(
            _ id: String, _ kind: Kind = .text(), title: String? = nil, detail: String? = nil,
            isRequired: Bool = false, placeholder: String? = nil, initialValue: Value? = nil
        ) {
            self.id = id
            self.title = title ?? id
            self.detail = detail
            self.kind = kind
            self.isRequired = isRequired
            self.placeholder = placeholder
            self.initialValue = initialValue
        }

        /// What may be entered in a field.
        public enum Kind: Sendable, Equatable {
            /// The range of all numbers.
            public static let anyNumber =
                -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude

            /// A text of one line or several.
            case text(TextRules = TextRules())
            /// A whole number in a range.
            case integer(ClosedRange<Int64> = .min ... .max)
            /// A number in a range, in decimal digits, perhaps with an exponent.
            case number(ClosedRange<Double> = anyNumber)
            /// Yes or no.
            case boolean
            /// One option of a list of 1 to 64.
            case choice([Option])
            /// Some options of a list of 1 to 64, and how many.
            case choices([Option], count: ClosedRange<Int> = 0...64)
        }

        /// The rules for a text beyond its limit of 4 KiB.
        public struct TextRules: Sendable, Equatable {
            /// Whether it may have several lines.
            public var isMultiline: Bool
            /// How many Unicode scalars it may have, if it has any.
            public var length: ClosedRange<Int>
            /// A regular expression of at most 256 bytes that has to match somewhere in it.
            ///
            /// It is one of JSON Schema's (JSON Schema Validation §6.3.3, ECMA-262): characters, classes, groups, alternatives, repetitions, `^` and `$`. Nothing that could
            /// take longer than the text is long, such as a back reference, is allowed.
            public var pattern: String?
            /// The form that it has to have.
            public var format: Format?

            /// Creates rules; without arguments, a single line of any kind.
            public init(
                isMultiline: Bool = false, length: ClosedRange<Int> = 0...4096,
                pattern: String? = nil, format: Format? = nil
            ) {
                self.isMultiline = isMultiline
                self.length = length
                self.pattern = pattern
                self.format = format
            }
        }

        /// A form of text, with its name in JSON Schema.
        public enum Format: String, Sendable, CaseIterable {
            /// An address such as `ana@example.org`.
            case email
            /// A scheme and what follows it, such as `https://example.org`; RFC 3986.
            case uri
            /// A day, such as `2026-11-20`; RFC 3339.
            case date
            /// A moment, such as `2026-11-20T10:00:00Z`; RFC 3339.
            case dateTime = "date-time"
        }

        /// One of the options of a list.
        public struct Option: Sendable, Equatable, ExpressibleByStringLiteral {
            /// What programs get, 1 to 256 bytes, unique in its field.
            public let id: String
            /// What a person reads, 1 to 256 bytes.
            public let title: String

            /// Creates an option; `id` defaults to the title.
            public init(_ title: String, id: String? = nil) {
                self.id = id ?? title
                self.title = title
            }

            /// Creates an option from its title.
            public init(stringLiteral title: String) { self.init(title) }
        }
    }

    /// What a field of an answer has.
    ///
    /// Literals are values, too:
    ///
    /// ```swift
    /// let input = Alert.Input(values: [
    ///     "name": "nas-2026", "copies": 2, "ratio": 0.5, "keep": true, "tags": ["old", "large"],
    /// ])
    /// print(input.values["name"]?.text ?? "no name")
    /// ```
    public enum Value: Sendable, Hashable {
        /// A text, or the id of the chosen option.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number that is not whole, or beyond 2⁶³; never infinite.
        case number(Double)
        /// Yes or no.
        case boolean(Bool)
        /// The ids of the chosen options, in the order of the field's options.
        case list([String])

        /// The value as a text: digits, `true` or `false`; a list is an array of JSON, such as
        /// `["a","b"]`.
        public var text: String {
            switch self {
            case .text(let text): text
            case .integer, .number, .boolean, .list: (try? json.text()) ?? ""
            }
        }

        /// The number, if it is one.
        public var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .number(let value): value
            case .text, .boolean, .list: nil
            }
        }

        /// The whole number, if it is one.
        public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

        /// Whether the answer is yes, if it is yes or no.
        public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

        /// The ids of the chosen options, if it is a list.
        public var list: [String]? { if case .list(let ids) = self { ids } else { nil } }
    }

    /// What comes with the choice of a button: the values of the fields, and a note.
    public struct Input: Sendable, Hashable, Codable {
        /// The values by the ids of their fields. A field that is not named here has its
        /// ``Alert/Field/initialValue``; an empty text means that it is left empty.
        public var values: [String: Value]
        /// A remark of at most 4 KiB that goes with the answer; it may have several lines.
        public var note: String?

        /// Creates an input; without arguments, an empty one.
        public init(values: [String: Value] = [:], note: String? = nil) {
            self.values = values
            self.note = note
        }

        package var isEmpty: Bool { values.isEmpty && note == nil }
    }

    /// Adds a field for a line of text, and lets a closure configure it, as `addTextField` of
    /// UIAlertController does.
    public mutating func addTextField(_ id: String, configure: (inout Field) -> Void = { _ in }) {
        var field = Field(id)
        configure(&field)
        fields.append(field)
    }
}

extension Alert.Value: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// Creates a text.
    public init(stringLiteral text: String) { self = .text(text) }

    /// Creates a whole number.
    public init(integerLiteral number: Int64) { self = .integer(number) }

    /// Creates a number; one that is whole, and fits, is ``integer(_:)``, as it is stored.
    public init(floatLiteral number: Double) { self.init(number) }

    /// Creates yes or no.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// Creates a list of the ids of options.
    public init(arrayLiteral ids: String...) { self = .list(ids) }
}

// MARK: - Checking fields

extension Alert {
    /// Checks the fields of an alert that is being asked.
    func validateFields() throws(AlertError) {
        // Most alerts have none, and their asks don't pay for those that do.
        guard !fields.isEmpty else { return }
        guard fields.count <= Limit.fieldCount else {
            throw .invalid("alert", "has \(fields.count) fields; at most \(Limit.fieldCount)")
        }
        guard buttons.contains(where: { $0.role != .cancel }) else {
            throw .invalid("alert", "has fields, and no button to send them with")
        }
        var ids: Set<String> = []
        for field in fields {
            try field.validate()
            guard ids.insert(field.id).inserted else {
                throw .invalid("alert", "has two fields with the id “\(field.id)”; ids are unique")
            }
        }
        let size = try FieldJSON.text(fields).utf8.count
        guard size <= Limit.fields else {
            throw .invalid("fields", "have \(size) bytes as JSON; at most \(Limit.fields)")
        }
        guard let defaultButton, let button = button(named: defaultButton), button.role != .cancel,
            let required = fields.first(where: \.isRequired)
        else { return }
        throw .invalid(
            "default button",
            "can't be applied without anybody: “\(required.id)” has to be filled in")
    }

    /// Checks what comes with the choice of a button, and gives fields without a value their initial
    /// one.
    ///
    /// - Parameter index: The button, or `nil` for an alert without buttons, which has no fields.
    /// - Throws: ``AlertError/invalid(_:_:)``, which names the field.
    package func completed(_ input: Input, buttonAt index: Int?) throws(AlertError) -> Input {
        var result = Input(note: input.note.flatMap { $0.isBlank ? nil : $0 })
        if let note = result.note { try Text.check(note, "note", limit: Limit.value) }
        let unknown = input.values.keys.filter { id in !fields.contains { $0.id == id } }.min()
        if let unknown {
            let known = fields.map(\.id).joined(separator: ", ")
            throw .invalid(
                "value of “\(unknown)”",
                fields.isEmpty
                    ? "is for no field: the question asks for none"
                    : "is for no field: these are \(known)")
        }
        let isCancel = index.map { buttons[$0].role == .cancel } ?? true
        for field in fields {
            var value = isCancel ? nil : field.initialValue
            if let given = input.values[field.id] { value = try field.check(given) }
            if let value { result.values[field.id] = value }
            guard isCancel || !field.misses(value) else { throw field.missingValue }
        }
        return result
    }
}

extension Alert.Field {
    fileprivate func validate() throws(AlertError) {
        guard (1...64).contains(id.utf8.count), id.isPlainIdentifier else {
            throw .invalid(
                "id of a field", "“\(id)” is not 1 to 64 letters, digits, “_”, “-” and “.”")
        }
        try Text.check(title, "label of “\(id)”", limit: Alert.Limit.label)
        if let detail { try Text.check(detail, "description of “\(id)”", limit: 1 << 10) }
        if let placeholder {
            try Text.check(placeholder, "placeholder of “\(id)”", limit: Alert.Limit.label)
        }
        switch kind {
        case .text(let rules): try validate(rules)
        case .integer, .boolean: break
        case .number(let range):
            guard range.lowerBound.isFinite, range.upperBound.isFinite else {
                throw error("has a bound that is not a number")
            }
        case .choice(let options): try validate(options)
        case .choices(let options, let count):
            try validate(options)
            guard count.upperBound > 0 else { throw error("can have none of its options") }
            guard count.lowerBound >= 0, count.lowerBound <= options.count else {
                throw error("has \(options.count) options, of which it wants \(count.lowerBound)")
            }
        }
        guard let initialValue else { return }
        do { _ = try check(initialValue) } catch {
            guard case .invalid(_, let reason) = error else { throw error }
            throw self.error("has an initial value that \(reason)")
        }
    }

    private func validate(_ rules: TextRules) throws(AlertError) {
        guard rules.length.lowerBound >= 0, rules.length.lowerBound <= Alert.Limit.value else {
            throw error("wants a text of \(rules.length.lowerBound) characters")
        }
        guard rules.length.upperBound > 0 else {
            throw error("can have no text, with a length of 0")
        }
        guard let text = rules.pattern else { return }
        do { _ = try TextPattern(text) } catch {
            throw self.error("has the pattern “\(text)”, which \(error.reason)")
        }
    }

    private func validate(_ options: [Option]) throws(AlertError) {
        guard (1...64).contains(options.count) else {
            throw error("has \(options.count) options; 1 to 64 are possible")
        }
        var ids: Set<ExactText> = []
        for option in options {
            try Text.check(id: option.id, "id of an option of “\(id)”")
            try Text.check(option.title, "label of an option of “\(id)”", limit: Alert.Limit.label)
            guard ids.insert(ExactText(option.id)).inserted else {
                throw error("has two options with the id “\(option.id)”")
            }
        }
        for option in options {
            let namesake = options.first { other in
                !other.id.isIdentical(to: option.id) && other.title.isIdentical(to: option.id)
            }
            guard let namesake else { continue }
            throw error(
                "has an option with the id “\(option.id)”, which is the label of another one, "
                    + "“\(namesake.id)”: that word could mean either; give the first another id")
        }
    }

    private func error(_ reason: String) -> AlertError { .invalid("field “\(id)”", reason) }

    func wrong(_ reason: String) -> AlertError { .invalid("value of “\(id)”", reason) }

    /// Whether it is required, and this is no value: a blank text is none then.
    package func misses(_ value: Alert.Value?) -> Bool {
        guard isRequired, case .text(let text)? = value, case .text = kind else {
            return isRequired && value == nil
        }
        return text.isBlank
    }

    /// The error that it is required, and has no value.
    package var missingValue: AlertError { wrong("is missing") }
}

// MARK: - Checking values

extension Alert.Field {
    /// The value as it is stored, or `nil` if it counts as none: an empty text, for every kind of
    /// field, and an empty list.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, which names the field and what it wants.
    package func check(_ value: Alert.Value) throws(AlertError) -> Alert.Value? {
        switch (kind, value) {
        case (_, .text("")): return nil
        case (.text(let rules), .text(let text)): try check(text, rules)
        case (.integer(let range), .integer(let number)):
            guard range.contains(number) else { throw wrong("must be \(bounds[0])") }
        case (.number(let range), _):
            guard let number = value.number, number.isFinite else {
                throw wrong("must be \(bounds[0])")
            }
            guard range.contains(number) else { throw wrong("must be \(bounds[0])") }
            if case .number = value { return Alert.Value(number) }
        case (.boolean, .boolean): break
        case (.choice(let options), .text(let id)):
            guard options.contains(where: { $0.id.isIdentical(to: id) }) else {
                throw wrong("must be one of \(options.map(\.id).joined(separator: ", "))")
            }
        case (.choices(let options, let count), .list(let ids)):
            let known = options.map(\.id)
            guard ids.allSatisfy(known.hasIdentical) else {
                throw wrong("must be some of \(known.joined(separator: ", "))")
            }
            let chosen = known.filter(ids.hasIdentical)
            guard !chosen.isEmpty else { return nil }
            guard count.contains(chosen.count) else {
                throw wrong("must have " + Self.words(count, of: options))
            }
            return .list(chosen)
        case (.text, _): throw wrong("must be a text")
        case (.integer, _): throw wrong("must be \(bounds[0])")
        case (.boolean, _): throw wrong("must be true or false")
        case (.choice, _): throw wrong("must be the id of one option")
        case (.choices, _): throw wrong("must be a list of options")
        }
        return value
    }

    private func check(_ text: String, _ rules: TextRules) throws(AlertError) {
        guard text.utf8.count <= Alert.Limit.value else {
            throw wrong("must have at most \(Alert.Limit.value) bytes")
        }
        guard !text.utf8.contains(0) else { throw wrong("must have no NUL character") }
        guard rules.isMultiline || !text.contains(where: \.isNewline) else {
            throw wrong("must be a single line")
        }
        guard rules.length.contains(text.unicodeScalars.count) else {
            throw wrong("must have \(Self.words(rules.length, "character"))")
        }
        if let format = rules.format, !format.accepts(text) {
            throw wrong("must be \(format.description)")
        }
        guard let pattern = rules.pattern else { return }
        // A pattern that is stored has been checked before.
        guard (try? TextPattern(pattern))?.matches(text) ?? false else {
            throw wrong(
                "must match the pattern “\(pattern)”"
                    + (detail.map { ", which means: \($0)" } ?? ""))
        }
    }
}

// MARK: - Saying what fits

extension Alert.Field {
    /// What may be entered where not everything may, in few words such as “a whole number from 1 to
    /// 3”; options, a pattern, and whether it is required, are not among them.
    package var bounds: [String] {
        switch kind {
        case .text(let rules):
            let length = rules.length
            let isLimited = length.lowerBound > 0 || length.upperBound < Alert.Limit.value
            return (isLimited ? [Self.words(length, "character")] : [])
                + (rules.format.map { [$0.description] } ?? [])
        case .integer(let range):
            return ["a whole number" + (range == .min ... .max ? "" : " " + Self.words(range))]
        case .number(let range):
            return ["a number" + (range == Kind.anyNumber ? "" : " " + Self.words(range))]
        case .boolean, .choice: return []
        case .choices(let options, let count):
            let isLimited = count.lowerBound > 1 || count.upperBound < options.count
            return isLimited ? [Self.words(count, of: options)] : []
        }
    }

    /// A count of options. That there is one at least says no more than that there is a value.
    private static func words(_ count: ClosedRange<Int>, of options: [Option]) -> String {
        let isFree = count.lowerBound == 1 && count.upperBound > 1
        return words(
            isFree ? 0...count.upperBound : count, "option", all: options.count)
    }

    /// A count of things, of which there are `all` at most.
    private static func words(
        _ range: ClosedRange<Int>, _ thing: String, all: Int = Alert.Limit.value
    ) -> String {
        let (low, high) = (range.lowerBound, range.upperBound)
        let number =
            low == high
            ? "\(low)"
            : high >= all ? "at least \(low)" : low == 0 ? "at most \(high)" : "\(low) to \(high)"
        return "\(number) \(thing)" + ((high >= all ? low : high) == 1 ? "" : "s")
    }

    private static func words(_ range: ClosedRange<Int64>) -> String {
        if range.lowerBound == .min { return "of at most \(range.upperBound)" }
        if range.upperBound == .max { return "of at least \(range.lowerBound)" }
        return "from \(range.lowerBound) to \(range.upperBound)"
    }

    private static func words(_ range: ClosedRange<Double>) -> String {
        let (low, high) = (Alert.Value(range.lowerBound), Alert.Value(range.upperBound))
        if -range.lowerBound == .greatestFiniteMagnitude { return "of at most \(high.text)" }
        if range.upperBound == .greatestFiniteMagnitude { return "of at least \(low.text)" }
        return "from \(low.text) to \(high.text)"
    }
}

extension Alert.Field.Format {
    /// What a person is told that it wants.
    package var description: String {
        switch self {
        case .email: "an address such as ana@example.org"
        case .uri: "an address with a scheme, such as https://example.org"
        case .date: "a date such as 2026-11-20"
        case .dateTime: "a time such as 2026-11-20T10:00:00Z"
        }
    }

    func accepts(_ text: String) -> Bool { (try? TextPattern(pattern))?.matches(text) ?? false }

    private var pattern: String {
        switch self {
        // What HTML wants of an input of this type, and a dot or more in the domain are not asked
        // for: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address
        case .email: "^[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)*$"
        case .uri: "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$"
        case .date: "^\(Self.day)$"
        case .dateTime:
            "^\(Self.day)[Tt ]([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d+)?"
                + "([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)$"
        }
    }

    /// A day of a month that has so many; whether a year is a leap year is not looked at.
    private static let day =
        "\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)"
        + "|02-(0[1-9]|1\\d|2\\d))"
}
