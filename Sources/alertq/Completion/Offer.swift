/// What could stand where a person is typing.
struct Candidate: Sendable, Hashable {
    let text: String
    /// What the shell may show beside it.
    let about: String

    init(_ text: String, _ about: String = "") {
        self.text = text
        self.about = about
    }
}

/// What a shell can offer for the word that is being typed.
enum Offer: Sendable, Hashable {
    case candidates([Candidate])
    /// The shell knows the files, and how to write them.
    case files
    /// The programs that can be started.
    case programs
}
