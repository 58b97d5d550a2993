/// What a shell can offer for the word that is being typed.
enum Offer: Sendable, Hashable {
    case candidates([Candidate])
    /// File names, which the shell completes itself.
    case files
    /// The programs that can be started.
    case programs
}
