import AlertQueue
import TextFormats

/// A command line that breaks the rules of the command.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Refuses the first of some options that was given, with a sentence about its name.
    static func refuse(
        _ options: KeyValuePairs<String, Bool>, _ sentence: (String) -> String
    ) throws(UsageError) {
        for (name, isGiven) in options where isGiven {
            throw UsageError(sentence("--\(name)"))
        }
    }

    /// Reads a text; that it can't be read is a mistake in the command line.
    static func reading<Value>(
        _ body: () throws(UnreadableText) -> Value
    ) throws(UsageError) -> Value {
        do {
            return try body()
        } catch {
            throw UsageError(error.description)
        }
    }

    /// Checks a name that an option was given, as an alert would; see ``Alert/validate()``.
    static func check(
        _ name: String, _ subject: String, of option: String
    ) throws(UsageError) {
        do throws(AlertError) {
            try Text.check(name, subject, limit: Alert.Limit.name)
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }
}
