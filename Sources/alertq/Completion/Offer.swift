/// What a shell can offer for the word that is being typed.
enum Offer: Sendable, Hashable {
    case candidates([Candidate])
    /// The shell knows the files, and how to write them.
    case files
    /// The programs that can be started.
    case programs
}
