import AlertCore

/// The choices in the order of the screen, and which of them is selected.
///
/// A destructive choice takes two keys: one that selects it, and Enter. Any other can be chosen by
/// its first letter, if no other choice begins with it, or by its number.
struct ChoiceList: Hashable, Sendable {
    enum Effect: Hashable {
        case chosen(Choice)
        case selected
    }

    let choices: [Choice]
    /// The index of the selected choice; `nil` before anything is selected.
    private(set) var selected: Int?
    /// Whether digits choose by number; they don't if a label begins with a digit.
    let hasNumbers: Bool

    /// Preselects the least harmful choice, or nothing if all are destructive.
    init(_ choices: [Choice]) {
        self.choices = choices
        hasNumbers = !choices.contains { $0.letter?.first?.isNumber ?? false }
        preselect(approves: true)
    }

    /// Selects the least harmful choice, or nothing if all are destructive.
    ///
    /// - Parameter approves: Whether it may be another than the one that cancels.
    mutating func preselect(approves: Bool) {
        let isHarmful = choices.contains { $0.role == .destructive }
        let cancel = choices.firstIndex { $0.role == .cancel }
        let harmless = choices.firstIndex { $0.role != .destructive }
        let safest = isHarmful ? cancel ?? harmless : harmless
        selected = approves ? safest : cancel
    }

    /// The letters that choose at once, in the order of their choices.
    var directLetters: [String] {
        choices.filter { $0.role != .destructive }.compactMap(\.letter).filter { letter in
            choices.count { $0.letter == letter } == 1
        }
    }

    func isFirstLetter(_ letter: String) -> Bool {
        choices.contains { $0.letter == letter }
    }

    /// Applies a key, and returns its effect; `nil` if it has none.
    ///
    /// - Parameter visible: The indices of the choices that are fully visible; any other one can be
    ///   selected, which brings it onto the screen, but not chosen.
    mutating func press(_ key: Key, visible: Set<Int>) -> Effect? {
        guard !choices.isEmpty else { return nil }
        switch key {
        case .left, .up, .wordLeft, .backTab:
            selected = ((selected ?? 0) + choices.count - 1) % choices.count
            return .selected
        case .right, .down, .wordRight, .tab:
            selected = selected.map { ($0 + 1) % choices.count } ?? 0
            return .selected
        case .home:
            selected = 0
            return .selected
        case .end:
            selected = choices.count - 1
            return .selected
        case .enter:
            return selected.flatMap { visible.contains($0) ? .chosen(choices[$0]) : nil }
        case .character(let character):
            return press(character, visible)
        default: return nil
        }
    }

    private mutating func press(_ character: Character, _ visible: Set<Int>) -> Effect? {
        if hasNumbers, character.isASCII, let number = character.wholeNumberValue {
            return choices.indices.contains(number - 1) ? take(number - 1, visible) : nil
        }
        let letter = character.lowercased()
        let matches = choices.indices.filter { choices[$0].letter == letter }
        guard let first = matches.first else { return nil }
        if matches.count == 1 { return take(first, visible) }
        // Several share the letter: it selects the next of them.
        selected = matches.first { $0 > selected ?? -1 } ?? first
        return .selected
    }

    private mutating func take(_ index: Int, _ visible: Set<Int>) -> Effect {
        selected = index
        let isChosen = choices[index].role != .destructive && visible.contains(index)
        return isChosen ? .chosen(choices[index]) : .selected
    }
}
