/// What of an alert's own text has been on the screen: its title and message, and the labels,
/// descriptions, options and values of its fields.
///
/// A button that doesn't cancel counts only once everything has been: a person approves what the
/// screen has shown, and nothing else.
struct SeenLines: Equatable, Sendable {
    /// A line that has to be seen: which part of the text it is of, where in it, and what it says.
    /// Once a value is edited, or the window has another width, a line is another one.
    struct Line: Hashable, Sendable {
        var part: Int
        var index: Int
        var text: String
    }

    private var seen: Set<Line> = []
    /// Whether everything has been on the screen. That stays so while a person fills in a form, who
    /// sees what is typed; of what is pasted, they may see only the end.
    private(set) var isEverything = false

    func contains(_ line: Line) -> Bool { isEverything || seen.contains(line) }

    /// Takes what has been on the screen, and whether that was the last of it.
    mutating func add(_ lines: [Line], isRest: Bool) {
        guard !isEverything else { return }
        seen.formUnion(lines)
        isEverything = isRest
    }

    /// Has everything looked at again that was not on the screen as it is now.
    mutating func review() { isEverything = false }
}
