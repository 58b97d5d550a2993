/// What a shell can offer for the word that is being typed.
enum Offer: Sendable, Hashable {
    case candidates([Candidate])
    /// File names, which the shell completes itself, after the beginning of the word that is none:
    /// `--database=`.
    case files(after: String)
    /// The programs that can be started, after the beginning of the word: `--on=command:`.
    case programs(after: String)
}
