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
}
