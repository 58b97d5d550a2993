/// A word that could complete what a person is typing.
struct Candidate: Sendable, Hashable {
    let text: String
    /// What the shell may show next to it.
    let about: String

    init(_ text: String, _ about: String = "") {
        self.text = text
        self.about = about
    }
}
