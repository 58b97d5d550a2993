/// One line of the screen: neutralised texts, each with its look.
struct StyledLine: Hashable, Sendable {
    struct Look: OptionSet, Hashable, Sendable {
        let rawValue: Int
        static let bold = Look(rawValue: 1)
        static let dim = Look(rawValue: 2)
        static let inverse = Look(rawValue: 4)
        /// Red, where there are colours.
        static let danger = Look(rawValue: 8)
    }

    struct Run: Hashable, Sendable {
        var text: String
        var look: Look
    }

    private(set) var runs: [Run] = []

    init(_ text: String = "", _ look: Look = []) {
        add(text, look)
    }

    mutating func add(_ text: String, _ look: Look = []) {
        if !text.isEmpty { runs.append(Run(text: text, look: look)) }
    }

    var text: String { runs.map(\.text).joined() }
    var width: Int { runs.reduce(0) { $0 + DisplayWidth.maximum(of: $1.text) } }

    /// The line cut to a width.
    func truncated(to width: Int) -> StyledLine {
        guard self.width > width else { return self }
        var result = StyledLine()
        var left = width
        for run in runs {
            let columns = DisplayWidth.maximum(of: run.text)
            if columns >= left {
                result.add(DisplayWidth.truncated(run.text + " ", to: left), run.look)
                break
            }
            result.add(run.text, run.look)
            left -= columns
        }
        return result
    }

    /// The bytes for the terminal. See ECMA-48 §8.3.117 (SGR).
    func rendered(hasColours: Bool) -> String {
        runs.map { run in
            var codes: [String] = []
            if run.look.contains(.bold) { codes.append("1") }
            if run.look.contains(.dim) { codes.append("2") }
            if run.look.contains(.inverse) { codes.append("7") }
            if run.look.contains(.danger), hasColours { codes.append("31") }
            guard !codes.isEmpty else { return run.text }
            return "\u{1B}[" + codes.joined(separator: ";") + "m" + run.text + "\u{1B}[0m"
        }.joined()
    }
}
