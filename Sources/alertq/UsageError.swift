/// What was typed breaks the rules of the command.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
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
