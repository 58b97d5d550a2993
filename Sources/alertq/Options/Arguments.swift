import AlertQueue

/// The parsed arguments of one verb.
package struct Arguments: Sendable {
    /// An option as it was given, with its argument if it takes one.
    package struct Occurrence: Sendable, Hashable {
        package let option: Option
        package let value: String
    }

    /// The options in the order in which they were given.
    package let occurrences: [Occurrence]
    /// Everything that is not an option, in order; as many as the verb expects.
    package let operands: [String]

    package func has(_ option: Option) -> Bool {
        occurrences.contains { $0.option == option }
    }

    /// The argument of an option; `nil` where it was not given.
    package subscript(_ option: Option) -> String? {
        occurrences.last { $0.option == option }?.value
    }

    /// The arguments of a repeatable option.
    package func values(_ option: Option) -> [String] {
        occurrences.filter { $0.option == option }.map(\.value)
    }

    /// The argument of an option as something other than text.
    ///
    /// `convert` throws a ``UsageError`` that says what is wrong with the text; the option's name
    /// is put before it.
    package func value<Value>(
        _ option: Option, _ convert: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value? {
        guard let text = self[option] else { return nil }
        do {
            return try convert(text)
        } catch {
            throw UsageError("--\(option.name): \(error)")
        }
    }

    /// The argument of an option as one of some words.
    package func choice<Value>(
        _ option: Option, _ values: [(word: String, value: Value)]
    ) throws(UsageError) -> Value? {
        try value(option) { text throws(UsageError) in
            if let match = values.first(where: { $0.word == text }) { return match.value }
            let words = values.map(\.word)
            let hint = Suggestion.text(for: text, among: words).map { "; did you mean “\($0)”?" }
            throw UsageError(
                "“\(text)” is none of \(words.joined(separator: ", "))\(hint ?? "")")
        }
    }

    /// A count of at least one.
    package func count(
        _ option: Option, unlessGiven fallback: Int, atMost limit: Int = .max
    ) throws(UsageError) -> Int {
        try value(option) { text throws(UsageError) in
            guard let count = Int(text), count > 0 else {
                throw UsageError("“\(text)” is not a count; give a number from 1")
            }
            guard count <= limit else {
                throw UsageError("\(count) is too many; give a number up to \(limit)")
            }
            return count
        } ?? fallback
    }

    /// The operand at an index as the id of an alert.
    package func alertID(at index: Int = 0) throws(UsageError) -> Alert.ID {
        try Self.alertID(operands[index])
    }

    package static func alertID(_ text: String) throws(UsageError) -> Alert.ID {
        guard let id = Alert.ID(text), id > 0 else {
            throw UsageError("“\(text)” is not the id of an alert; ids are numbers from 1")
        }
        return id
    }

    /// The end of an audit log, as `audit head` prints it.
    package static func head(_ text: String) throws(UsageError) -> AuditHead {
        guard let head = AuditHead(text) else {
            throw UsageError("“\(text)” is not a head, such as audit head prints")
        }
        return head
    }

    /// An entry of the audit log to go on after: its number, or 0 for what stands before the first,
    /// or a cursor.
    package static func place(_ text: String) throws(UsageError) -> LogPlace {
        if let head = AuditHead(text) {
            return LogPlace(sequence: head.sequence, head: head)
        }
        guard let number = Int64(text), number >= 0 else {
            throw UsageError(
                "“\(text)” is neither the number of an entry of the audit log nor a cursor")
        }
        return LogPlace(sequence: number, head: nil)
    }
}
