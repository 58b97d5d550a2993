import AlertQueue
import FoundationEssentials
import Linux
import TextFormats

/// An argument of an option, or an operand: its name in the help, how it is read, and what a shell
/// can offer for it.
///
/// Each type that can be typed says so in an extension of this one, next to its parser.
struct Argument<Value>: Sendable {
    /// Its name in the help, in capitals.
    let placeholder: String
    let kind: ArgumentKind
    /// Reads a text; the error says what is wrong with it, but not which argument it is.
    let read: @Sendable (_ text: String) throws(UsageError) -> Value

    init(
        _ placeholder: String, _ kind: ArgumentKind = .text,
        read: @escaping @Sendable (_ text: String) throws(UsageError) -> Value
    ) {
        self.placeholder = placeholder
        self.kind = kind
        self.read = read
    }

    /// The same argument, without the values that don't fulfil a condition.
    ///
    /// - Parameter problem: What is wrong with the others; it follows the text.
    func requiring(
        orElse problem: String, _ condition: @escaping @Sendable (Value) -> Bool
    ) -> Argument {
        Argument(placeholder, kind) { [read] text throws(UsageError) in
            let value = try read(text)
            guard condition(value) else { throw UsageError("“\(text)” \(problem)") }
            return value
        }
    }
}

extension Argument {
    /// The same argument, with advice for what was probably meant by a text that can't be read.
    func advising(_ advice: @escaping @Sendable (_ text: String) -> String?) -> Argument {
        Argument(placeholder, kind) { [read] text throws(UsageError) in
            do throws(UsageError) {
                return try read(text)
            } catch {
                throw advice(text).map { UsageError("\(error); \($0)") } ?? error
            }
        }
    }
}

// MARK: - Words

extension Argument {
    /// One of some words, which the help of the option lists.
    static func word(
        _ placeholder: String = "WORD", among choices: [(word: String, value: Value)]
    ) -> Argument where Value: Sendable {
        let words = choices.map(\.word)
        return Argument(placeholder, .words(words)) { text throws(UsageError) in
            if let match = choices.first(where: { $0.word == text }) { return match.value }
            let hint = Suggestion.hint(for: text, among: words)
            throw UsageError("“\(text)” is not one of \(words.joined(separator: ", "))\(hint)")
        }
    }
}

extension Argument
where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
    /// One of the type's words.
    static var word: Argument { word(among: Value.allCases.map { ($0.rawValue, $0) }) }
}

extension Argument where Value == Alert.Priority {
    static var priority: Argument { word(among: Value.allCases.map { ($0.word, $0) }) }
}

// MARK: - Texts

extension Argument where Value == String {
    /// Any text, even an empty one.
    static func text(_ placeholder: String, _ kind: ArgumentKind = .text) -> Argument {
        Argument(placeholder, kind) { $0 }
    }

    static var key: Argument { text("KEY", .key) }
    /// The asker's name.
    static var source: Argument { text("NAME", .source) }

    /// A path that is not empty.
    static func path(_ placeholder: String = "PATH", ifEmpty problem: String) -> Argument {
        Argument(placeholder, .file) { text throws(UsageError) in
            guard !text.isEmpty else { throw UsageError(problem) }
            return text
        }
    }
}

// MARK: - Times

extension Argument where Value == Duration {
    static var duration: Argument {
        Argument("DURATION") { text throws(UsageError) in
            try UsageError.reading { () throws(UnreadableText) in try DurationText.parse(text) }
        }
    }
}

extension Argument where Value == Alert.Deadline {
    static var deadline: Argument {
        Argument("TIME") { text throws(UsageError) in
            try UsageError.reading { () throws(UnreadableText) in
                try DateText.deadline(text, now: Date())
            }
        }
    }
}

// MARK: - Numbers

extension Argument where Value == Int {
    /// A count of at least one.
    static func count(atMost limit: Int = .max) -> Argument {
        Argument("COUNT") { text throws(UsageError) in
            guard let count = Int(text), count > 0 else {
                throw UsageError("“\(text)” is not a count; give a number of at least 1")
            }
            guard count <= limit else {
                throw UsageError("\(count) is too many; give at most \(limit)")
            }
            return count
        }
    }
}

extension Argument where Value == LoopbackSocket.Address {
    static var loopbackAddress: Argument {
        Argument("HOST:PORT") { text throws(UsageError) in
            guard let address = LoopbackSocket.Address(text) else {
                throw UsageError(
                    "“\(text)” is no address of this machine alone; give 127.0.0.1 or [::1] and a "
                        + "port, such as 127.0.0.1:8080; for other machines, put a proxy with TLS "
                        + "in front of it")
            }
            return address
        }
    }
}

extension Argument where Value == Alert.ID {
    /// The id of an alert; a shell offers those that wait.
    static var alertID: Argument { alertID(.waitingAlert) }

    static func alertID(_ kind: ArgumentKind) -> Argument {
        Argument("ID", kind) { text throws(UsageError) in
            guard let id = Alert.ID(text), id > 0 else {
                throw UsageError("“\(text)” is not the id of an alert; ids are numbers from 1")
            }
            return id
        }
    }
}

extension Argument where Value == AuditHead {
    /// The end of an audit log, as `audit head` prints it.
    static var auditHead: Argument {
        Argument("NUMBER:HASH") { text throws(UsageError) in
            guard let head = AuditHead(text) else {
                throw UsageError("“\(text)” is not a head as audit head prints it")
            }
            return head
        }
    }
}
