/// A command line that the help of a verb ends with, and what it does.
struct Example: Sendable {
    /// What is typed, quoted for a shell.
    let line: String
    /// What it does: a sentence without its end.
    let about: String

    init(_ line: String, _ about: String) {
        self.line = line
        self.about = about
    }
}
