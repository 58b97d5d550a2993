/// How an operand is written.
struct OperandSyntax: Sendable, Hashable {
    /// How often it can be given.
    enum Count: Sendable {
        case required, optional, any
    }

    let name: String
    let count: Count
    /// What a shell can offer for it.
    let kind: ArgumentKind

    /// Its form in a usage line: in brackets if it may be missing, with dots if it may be repeated.
    var usage: String {
        switch count {
        case .required: name
        case .optional: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}

extension [OperandSyntax] {
    /// Whether there is no limit to how many words may be given.
    var areUnlimited: Bool { contains { $0.count == .any } }

    /// The operand that a word belongs to, by its position among all words: one that may be
    /// repeated takes those that the operands before and after it leave.
    func index(ofWord word: Int, among words: Int) -> Int {
        guard let list = firstIndex(where: { $0.count == .any }) else {
            return Swift.min(word, count - 1)
        }
        let left = words - word
        return Swift.max(Swift.min(word, list), left < count - list ? count - left : 0)
    }
}
