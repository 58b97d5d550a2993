import TextFormats

/// Fields as JSON: each is a property of a JSON Schema, with its `id`, and `required` if it is.
///
/// In the alert's JSON, and in the database, fields are an array of these. ``fields(schema:)`` reads
/// them from a schema of an object, as the Model Context Protocol has it.
package enum FieldJSON {
    /// The fields on one line; the audit log's hash of what was asked covers exactly this.
    package static func text(_ fields: [Alert.Field]) throws(AlertError) -> String {
        do { return try array(fields).text() } catch {
            throw .invalid("fields", "can't be written as JSON: \(error)")
        }
    }

    package static func array(_ fields: [Alert.Field]) -> JSONValue { .array(fields.map(\.json)) }

    /// Reads what ``text(_:)`` writes.
    package static func fields(_ text: String) throws(AlertError) -> [Alert.Field] {
        let json: JSONValue
        do { json = try JSONValue(parsing: Array(text.utf8)) } catch {
            throw .invalid("fields", "are not JSON: \(error)")
        }
        guard let elements = json.elements else { throw .invalid("fields", "are not an array") }
        return try elements.map { element throws(AlertError) in try Alert.Field(json: element) }
    }

    /// The fields that a JSON Schema of an object asks for, in the order of its properties.
    ///
    /// A property that may be null, in any of the ways in which libraries write that, is a field that
    /// may stay empty, also if it is required.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, which names the property and the keyword that can't
    ///   be a field's.
    package static func fields(schema: JSONValue) throws(AlertError) -> [Alert.Field] {
        guard let members = schema.members else { throw .invalid("schema", "is not an object") }
        let known =
            ["type", "properties", "required", "additionalProperties"] + Keyword.definitions
            + Keyword.annotations
        if let other = members.first(where: { !known.contains($0.key) }) {
            throw .invalid("schema", "has “\(other.key)”, which a form can't have")
        }
        guard schema["type"].map({ $0.string == "object" }) ?? true,
            let properties = schema["properties"]?.members
        else {
            throw .invalid("schema", "is not of an object with properties: \(Keyword.example)")
        }
        let required = schema["required"].map { $0.elements?.compactMap(\.string) } ?? []
        guard let required, required.count == schema["required"]?.elements?.count ?? 0 else {
            throw .invalid("schema", "has “required” that is not a list of texts")
        }
        if let unknown = required.first(where: { name in !properties.contains { $0.key == name } })
        {
            throw .invalid("schema", "requires “\(unknown)”, which is none of its properties")
        }
        return try properties.map { name, property throws(AlertError) in
            let definitions = Keyword.definitions.map { (start: "#/\($0)/", parts: schema[$0]) }
            var (field, isOptional) = try Alert.Field.read(name, schema: property, definitions)
            field.isRequired = required.contains(name) && !isOptional
            return field
        }
    }

    /// Names in a schema.
    fileprivate enum Keyword {
        /// These say something about the schema or to its reader, and nothing about values.
        static let annotations = [
            "$schema", "$id", "$comment", "title", "description", "examples", "deprecated",
        ]
        /// Parts to which a `$ref` leads.
        static let definitions = ["$defs", "definitions"]
        static let example = #"{"properties": {"name": {"type": "string"}}}"#
    }
}

// MARK: - Writing

extension Alert {
    /// The fields as the database has them and the log hashes them; `nil` if there are none.
    package var fieldsJSON: String? {
        // Every text of Swift's can be written as JSON.
        fields.isEmpty ? nil : try? FieldJSON.text(fields)
    }
}

extension Alert.Input {
    /// The values as an object of JSON, in the order of an alert's fields; `nil` if there are none.
    package func json(for fields: [Alert.Field]) -> JSONValue? {
        guard !values.isEmpty else { return nil }
        return .object(
            fields.compactMap { field in values[field.id].map { (field.id, $0.json) } })
    }

    /// The values as the database has them; `nil` if there are none.
    package func text(for fields: [Alert.Field]) -> String? { try? json(for: fields)?.text() }

    /// Reads values that ``json(for:)`` has written.
    package init(json: JSONValue, note: String?, fields: [Alert.Field]) throws(AlertError) {
        self.init(note: note)
        for (id, value) in json.members ?? [] {
            guard let field = fields.first(where: { $0.id == id }) else {
                throw .invalid("value of “\(id)”", "is for no field")
            }
            values[id] = try field.value(json: value)
        }
    }
}

extension Alert.Field {
    /// The field as JSON.
    var json: JSONValue {
        var members: [(key: String, value: JSONValue)] = [("id", .string(id))]
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append((name, value)) }
        }
        switch kind {
        case .text(let rules):
            add("type", .string("string"))
            if rules.isMultiline { add("multiline", .bool(true)) }
            if rules.length.lowerBound > 0 {
                add("minLength", .integer(Int64(rules.length.lowerBound)))
            }
            if rules.length.upperBound < Alert.Limit.value {
                add("maxLength", .integer(Int64(rules.length.upperBound)))
            }
            add("pattern", rules.pattern.map(JSONValue.string))
            add("format", rules.format.map { .string($0.rawValue) })
        case .integer(let range):
            add("type", .string("integer"))
            if range.lowerBound > .min { add("minimum", .integer(range.lowerBound)) }
            if range.upperBound < .max { add("maximum", .integer(range.upperBound)) }
        case .number(let range):
            add("type", .string("number"))
            if range.lowerBound > -.greatestFiniteMagnitude {
                add("minimum", Alert.Value(range.lowerBound).json)
            }
            if range.upperBound < .greatestFiniteMagnitude {
                add("maximum", Alert.Value(range.upperBound).json)
            }
        case .boolean: add("type", .string("boolean"))
        case .choice(let options):
            add("type", .string("string"))
            members.append(Self.list(options, titled: "oneOf"))
        case .choices(let options, let count):
            add("type", .string("array"))
            if count.lowerBound > 0 { add("minItems", .integer(Int64(count.lowerBound))) }
            if count.upperBound < options.count {
                add("maxItems", .integer(Int64(count.upperBound)))
            }
            let list = Self.list(options, titled: "anyOf")
            add("items", .object([("type", .string("string")), list]))
        }
        if !title.isIdentical(to: id) { add("title", .string(title)) }
        add("description", detail.map(JSONValue.string))
        add("placeholder", placeholder.map(JSONValue.string))
        add("default", initialValue?.json)
        if isRequired { add("required", .bool(true)) }
        return .object(members)
    }

    /// Options as an `enum`, or with titles.
    private static func list(
        _ options: [Option], titled: String
    ) -> (key: String, value: JSONValue) {
        if options.allSatisfy({ $0.id.isIdentical(to: $0.title) }) {
            return ("enum", .array(options.map { .string($0.id) }))
        }
        let titles = options.map { option in
            JSONValue.object([("const", .string(option.id)), ("title", .string(option.title))])
        }
        return (titled, .array(titles))
    }
}

extension Alert.Value {
    /// The value as JSON.
    package var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number): .integer(number)
        case .number(let number): .number("\(number)")
        case .boolean(let value): .bool(value)
        case .list(let ids): .array(ids.map(JSONValue.string))
        }
    }

    /// The value that JSON has, whatever its field; `nil` for null, an object, a list of something
    /// else than texts, and a number that is too large or too close to 0.
    init?(json: JSONValue) {
        switch json {
        case .string(let text): self = .text(text)
        case .bool(let value): self = .boolean(value)
        case .integer(let number): self = .integer(number)
        case .number(let digits):
            guard let number = Double(digits: digits) else { return nil }
            self.init(number)
        case .array(let elements):
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else { return nil }
            self = .list(texts)
        case .null, .object: return nil
        }
    }

    /// A number; one that is whole, and fits, is ``integer(_:)``, as which JSON would be read.
    package init(_ number: Double) {
        self = Int64(exactly: number).map(Self.integer) ?? .number(number)
    }
}

// MARK: - Reading

extension Alert.Field {
    /// The field as it is read from its JSON, which leaves out what says nothing.
    var normalized: Alert.Field {
        var field = self
        switch kind {
        case .text(var rules):
            let low = rules.length.lowerBound
            rules.length = low...max(low, min(rules.length.upperBound, Alert.Limit.value))
            field.kind = .text(rules)
        case .choices(let options, let count):
            let low = count.lowerBound
            field.kind = .choices(
                options, count: low...max(low, min(count.upperBound, options.count)))
        case .integer, .number, .boolean, .choice: break
        }
        if let initialValue, let value = try? check(initialValue) { field.initialValue = value }
        return field
    }

    /// Reads what ``json`` writes.
    init(json: JSONValue) throws(AlertError) {
        guard let id = json["id"]?.string, let members = json.members else {
            throw .invalid("field", "has no id")
        }
        let rest = members.filter { $0.key != "id" && $0.key != "required" }
        self = try Self.read(id, schema: .object(rest)).field
        if case .bool(let value)? = json["required"] { isRequired = value }
    }

    /// Reads a property of a JSON Schema, and whether it may be null.
    ///
    /// - Parameter definitions: The parts of the schema to which a `$ref` leads, and how it begins.
    /// - Throws: ``AlertError/invalid(_:_:)``, which names what can't be a field.
    fileprivate static func read(
        _ id: String, schema: JSONValue, _ definitions: Property.Definitions = []
    ) throws(AlertError) -> (field: Alert.Field, isOptional: Bool) {
        var property = try Property(id, schema, definitions)
        let title = try property.text("title")
        let detail = try property.text("description")
        let placeholder = try property.text("placeholder")
        let initial = property.take("default")
        let kind = try property.kind()
        try property.end()
        var field = Alert.Field(id, kind, title: title, detail: detail, placeholder: placeholder)
        if let initial { field.initialValue = try field.value(json: initial) }
        return (field, property.isOptional)
    }

    /// The value that JSON has for this field.
    package func value(json: JSONValue) throws(AlertError) -> Alert.Value {
        let value = Alert.Value(json: json)
        switch (json, value) {
        case (.number, nil): throw wrong("must be 0, or have a size from 5e-324 to 1.7e308")
        case (.array, nil): throw wrong("must be a list of texts")
        case (_, nil): throw wrong("must be a text, a number, true, false or a list")
        case (.number, let value?):
            // A whole number beyond this would be rounded.
            if case .integer = kind, let number = value.number, abs(number) >= 0x1p53 {
                throw wrong("must be a whole number, without a point or an exponent")
            }
            return value
        case (_, let value?): return value
        }
    }

    /// The value that texts say, as a person types them: an option by its id or its title, and
    /// several texts for a list.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, also for a value that does not fit.
    package func value(typed texts: [String]) throws(AlertError) -> Alert.Value? {
        let text = texts.last ?? ""
        switch kind {
        case .choices(let options, _):
            return try check(.list(texts.filter { !$0.isEmpty }.map { Self.id(of: $0, options) }))
        case _ where texts.count != 1:
            throw wrong("must be given once")
        case .text: return try check(.text(text))
        case .choice(let options): return try check(.text(Self.id(of: text, options)))
        case _ where text.isBlank: return nil
        case .boolean:
            guard case .boolean(let value) = word(text) else { throw wrong("must be yes or no") }
            return .boolean(value)
        case .integer, .number: return try check(word(text))
        }
    }

    /// The number, or yes or no, that a typed word says; the text itself if it says none, which the
    /// check refuses.
    private func word(_ text: String) -> Alert.Value {
        let words = text.split(whereSeparator: \.isWhitespace)
        let word = words.count == 1 ? words[0].lowercased() : ""
        switch (kind, word) {
        case (.boolean, _) where ["yes", "y", "true", "on", "1"].contains(word):
            return .boolean(true)
        case (.boolean, _) where ["no", "n", "false", "off", "0"].contains(word):
            return .boolean(false)
        case (.integer, _): return Int64(word).map(Alert.Value.integer) ?? .text(text)
        case (.number, _):
            if let whole = Int64(word) { return .integer(whole) }
            let isDecimal = word.utf8.allSatisfy("+-.0123456789e".utf8.contains)
            let number = isDecimal ? Double(digits: word) : nil
            return number.map { Alert.Value($0) } ?? .text(text)
        default: return .text(text)
        }
    }

    private static func id(of text: String, _ options: [Option]) -> String {
        if options.contains(where: { $0.id.isIdentical(to: text) }) { return text }
        let titled = options.filter { $0.title.isIdentical(to: text) }
        return titled.count == 1 ? titled[0].id : text
    }

    /// A property of a schema while it is read: each keyword is taken once, and none may be left.
    fileprivate struct Property {
        typealias Definitions = [(start: String, parts: JSONValue?)]

        let id: String
        /// Whether it may be null.
        private(set) var isOptional = false
        private var members: [(key: String, value: JSONValue)]
        private let definitions: Definitions

        init(
            _ id: String, _ schema: JSONValue, _ definitions: Definitions
        ) throws(AlertError) {
            self.id = id
            self.definitions = definitions
            guard let members = schema.members else {
                throw .invalid("field “\(id)”", "is not an object of JSON")
            }
            self.members = members
            try unwrap()
            if take("writeOnly") != nil || string("format") == "password" {
                throw error(
                    "asks for a secret, which a queue that keeps everything must not have; use "
                        + "systemd-ask-password")
            }
        }

        /// Takes away what libraries wrap a type in: a `$ref`, an alternative of one, and null.
        private mutating func unwrap() throws(AlertError) {
            // Definitions may lead to one another, and in a circle.
            for _ in 0..<16 {
                var inner = try reference()
                if inner == nil { inner = onlyAlternative() }
                guard let inner else { return try takeNullOption() }
                // What stands outside is about this use of it.
                members += inner.filter { name, _ in !members.contains { $0.key == name } }
            }
            throw error("is defined by itself")
        }

        /// The members of the part that a `$ref` leads to.
        private mutating func reference() throws(AlertError) -> [(key: String, value: JSONValue)]? {
            guard let path = try text("$ref") else { return nil }
            let parts = definitions.lazy.compactMap { start, parts -> JSONValue? in
                path.hasPrefix(start) ? parts?[String(path.dropFirst(start.count))] : nil
            }
            guard let members = parts.first?.members else {
                throw error("has the “$ref” “\(path)”, which leads nowhere in the schema")
            }
            return members
        }

        /// The members of the only type among alternatives; options stay where they are.
        private mutating func onlyAlternative() -> [(key: String, value: JSONValue)]? {
            for name in ["anyOf", "oneOf", "allOf"] {
                guard let index = members.firstIndex(where: { $0.key == name }),
                    let all = members[index].value.elements
                else { continue }
                let others = name == "allOf" ? all : all.filter { !Self.isNull($0) }
                if others.count < all.count { isOptional = true }
                if others.count == 1, others[0]["const"] == nil, let inner = others[0].members {
                    members.remove(at: index)
                    return inner
                }
                members[index].value = .array(others)
            }
            return nil
        }

        private static func isNull(_ alternative: JSONValue) -> Bool {
            alternative.members?.contains { name, value in
                switch (name, value) {
                case ("type", .string("null")), ("const", .null): true
                default: false
                }
            } ?? false
        }

        /// Takes null out of the types and out of an `enum`.
        private mutating func takeNullOption() throws(AlertError) {
            switch take("nullable") {
            case .bool(let value)?: if value { isOptional = true }
            case nil: break
            case _?: throw error("has “nullable” that is neither true nor false")
            }
            guard let index = members.firstIndex(where: { $0.key == "enum" }),
                let all = members[index].value.elements
            else { return }
            let others = all.filter { if case .null = $0 { false } else { true } }
            if others.count < all.count { isOptional = true }
            members[index].value = .array(others)
        }

        /// The type, which may be in a list with null.
        private mutating func type() throws(AlertError) -> String? {
            guard let value = take("type") else { return nil }
            if let type = value.string { return type }
            let types = value.elements?.compactMap(\.string) ?? []
            let others = types.filter { $0 != "null" }
            guard others.count == 1, types.count == value.elements?.count else {
                throw error("has a “type” that is neither one nor one beside null")
            }
            if types.count > 1 { isOptional = true }
            return others[0]
        }

        func error(_ reason: String) -> AlertError { .invalid("field “\(id)”", reason) }

        /// Takes a keyword's value; `nil` if it is absent or null.
        mutating func take(_ name: String) -> JSONValue? {
            guard let index = members.firstIndex(where: { $0.key == name }) else { return nil }
            let value = members.remove(at: index).value
            if case .null = value { return nil }
            return value
        }

        private func string(_ name: String) -> String? {
            members.first { $0.key == name }?.value.string
        }

        mutating func text(_ name: String) throws(AlertError) -> String? {
            guard let value = take(name) else { return nil }
            guard let text = value.string else { throw error("has “\(name)” that is not a text") }
            return text
        }

        private mutating func count(_ name: String, _ standard: Int) throws(AlertError) -> Int {
            guard let value = take(name) else { return standard }
            guard let number = value.integer, (0...Int64(Int32.max)).contains(number) else {
                throw error("has “\(name)” that is not a whole number from 0")
            }
            return Int(number)
        }

        private func range<Bound: Comparable>(
            _ low: Bound, _ high: Bound
        ) throws(AlertError) -> ClosedRange<Bound> {
            guard low <= high else { throw error("has a minimum above its maximum") }
            return low...high
        }

        private mutating func bound(_ name: String) throws(AlertError) -> Double? {
            guard let value = take(name) else { return nil }
            guard let number = value.double else {
                throw error("has “\(name)” that is not a number, or not one of 64 bits")
            }
            return number
        }

        private mutating func wholeBound(
            _ name: String, _ rule: FloatingPointRoundingRule
        ) throws(AlertError) -> Int64? {
            if case .integer(let number)? = members.first(where: { $0.key == name })?.value {
                _ = take(name)
                return number
            }
            guard let number = try bound(name)?.rounded(rule) else { return nil }
            if let whole = Int64(exactly: number) { return whole }
            guard (number < 0) == (rule == .up) else {
                throw error("has “\(name)” that leaves no whole number of 64 bits")
            }
            return nil
        }

        mutating func kind() throws(AlertError) -> Kind {
            let type = try type()
            if let options = try options() {
                guard type ?? "string" == "string" else {
                    throw error("has options that are not texts")
                }
                return .choice(options)
            }
            switch type {
            case "string": return .text(try textRules())
            case "boolean": return .boolean
            case "integer":
                let low = try wholeBound("minimum", .up) ?? .min
                let high = try wholeBound("maximum", .down) ?? .max
                let above = try wholeBound("exclusiveMinimum", .down)
                let below = try wholeBound("exclusiveMaximum", .up)
                guard above != .max, below != .min else {
                    throw error("has a bound that leaves no whole number of 64 bits")
                }
                return .integer(
                    try range(
                        max(low, above.map { $0 + 1 } ?? .min),
                        min(high, below.map { $0 - 1 } ?? .max)))
            case "number":
                let low = try bound("minimum") ?? -.greatestFiniteMagnitude
                return .number(
                    try range(low, bound("maximum") ?? .greatestFiniteMagnitude))
            case "array":
                guard let items = take("items") else {
                    throw error("is an array without “items”")
                }
                var inner = try Property(id, items, definitions)
                guard try inner.type() ?? "string" == "string",
                    let options = try inner.options()
                else {
                    throw error("is an array of something else than options (“enum” or “anyOf”)")
                }
                try inner.end()
                _ = take("uniqueItems")
                let low = try count("minItems", 0)
                return .choices(
                    options, count: try range(low, count("maxItems", options.count)))
            case let type?: throw error("has the type “\(type)”, which no field can have")
            case nil: throw error("has no type")
            }
        }

        private mutating func textRules() throws(AlertError) -> TextRules {
            var rules = TextRules()
            switch take("multiline") {
            case .bool(let value)?: rules.isMultiline = value
            case nil: break
            case _?: throw error("has “multiline” that is neither true nor false")
            }
            let low = try count("minLength", 0)
            rules.length = try range(low, count("maxLength", Alert.Limit.value))
            rules.pattern = try text("pattern")
            if let name = try text("format") {
                guard let format = Format(rawValue: name) else {
                    let known = Format.allCases.map(\.rawValue).joined(separator: ", ")
                    throw error("has the format “\(name)”, which is none of \(known)")
                }
                rules.format = format
            }
            return rules
        }

        private mutating func options() throws(AlertError) -> [Option]? {
            if let values = take("enum") {
                let ids = values.elements?.compactMap(\.string) ?? []
                guard !ids.isEmpty, ids.count == values.elements?.count else {
                    throw error("has an “enum” that is not a list of texts")
                }
                // An older form of the protocol has titles apart.
                let titles = take("enumNames")?.elements?.compactMap(\.string) ?? ids
                guard titles.count == ids.count else {
                    throw error("has \(titles.count) names for \(ids.count) options")
                }
                return zip(ids, titles).map { Option($1, id: $0) }
            }
            if let id = try text("const") { return [Option(id)] }
            // The protocol has the first of them for one option, and the other for several.
            guard let values = take("oneOf") ?? take("anyOf") else { return nil }
            return try (values.elements ?? []).map { value throws(AlertError) in
                guard let id = value["const"]?.string else {
                    throw error("has an alternative that is no option: it has no text as “const”")
                }
                guard let title = value["title"] else { return Option(id) }
                guard let title = title.string else {
                    throw error("has an option “\(id)” whose title is not a text")
                }
                return Option(title, id: id)
            }
        }

        /// Checks that nothing is left that would have to be applied.
        func end() throws(AlertError) {
            let rest = members.first { !FieldJSON.Keyword.annotations.contains($0.key) }
            guard let rest else { return }
            throw error("has “\(rest.key)”, which can't be applied here")
        }
    }
}
