/// A regular expression of JSON Schema's that matches in time proportional to the text's length.
///
/// All ways to match are followed at once, character by character (Thompson's construction,
/// <https://swtch.com/~rsc/regexp/regexp1.html>), because an asker chooses the pattern, and the
/// process that answers has to match it: with Swift's `Regex`, which goes back and tries again,
/// `(a+)+$` and thirty letters would keep it for minutes. What needs going back is refused: look
/// around, back references, and `\b`. The syntax is that of ECMAScript with the flag `u`.
package struct TextPattern: Sendable {
    /// Why a text is no pattern.
    package struct Invalid: Error {
        package let reason: String
    }

    fileprivate enum Step {
        case character(CharacterSet)
        case start, end
        /// Go on at both places.
        case fork(Int, Int)
        case match
    }

    private let steps: [Step]

    /// - Throws: ``Invalid``, with a clause such as “has a group that doesn't end”.
    package init(_ text: String) throws(Invalid) {
        guard text.utf8.count <= 256 else { throw Invalid(reason: "is longer than 256 bytes") }
        var parser = Parser(rest: Array(text.unicodeScalars)[...])
        let node = try parser.alternatives(depth: 0)
        guard parser.rest.isEmpty else { throw Invalid(reason: "has a “)” without a “(”") }
        var compiler = Compiler()
        try compiler.add(node)
        steps = compiler.steps + [.match]
    }

    /// Whether it matches somewhere in a text.
    package func matches(_ text: String) -> Bool {
        var current = Threads(count: steps.count)
        var next = current
        let scalars = Array(text.unicodeScalars)
        for index in 0...scalars.count {
            let (isStart, isEnd) = (index == 0, index == scalars.count)
            if follow(0, isStart, isEnd, &current) { return true }
            guard !isEnd else { return false }
            for place in current.places {
                guard case .character(let set) = steps[place], set.contains(scalars[index]) else {
                    continue
                }
                let isLast = index + 1 == scalars.count
                if follow(place + 1, false, isLast, &next) { return true }
            }
            swap(&current, &next)
            next.removeAll()
        }
        return false
    }

    /// Adds the places that are reached without a character; returns whether one is a match.
    private func follow(
        _ place: Int, _ isStart: Bool, _ isEnd: Bool, _ threads: inout Threads
    ) -> Bool {
        var open = [place]
        while let place = open.popLast() {
            guard threads.insert(place) else { continue }
            switch steps[place] {
            case .character: break
            case .start: if isStart { open.append(place + 1) }
            case .end: if isEnd { open.append(place + 1) }
            case .fork(let first, let second): open += [second, first]
            case .match: return true
            }
        }
        return false
    }

    /// The places at which ways to match have arrived, each once.
    private struct Threads {
        private(set) var places: [Int] = []
        private var isPresent: [Bool]

        init(count: Int) { isPresent = Array(repeating: false, count: count) }

        mutating func insert(_ place: Int) -> Bool {
            guard !isPresent[place] else { return false }
            isPresent[place] = true
            places.append(place)
            return true
        }

        mutating func removeAll() {
            for place in places { isPresent[place] = false }
            places.removeAll(keepingCapacity: true)
        }
    }
}

// MARK: - Parts

extension TextPattern {
    fileprivate struct CharacterSet {
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        /// Further characters.
        var properties: [CharacterProperty] = []
        var isInverted = false

        /// The set of ``merged`` ranges.
        func contains(_ scalar: Unicode.Scalar) -> Bool {
            var (low, high) = (0, ranges.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
            }
            let isInside =
                (low < ranges.count && ranges[low].lowerBound <= scalar)
                || properties.contains { $0.contains(scalar) }
            return isInside != isInverted
        }

        /// The same set with its ranges in order, none of which overlaps another.
        var merged: CharacterSet {
            var result: [ClosedRange<Unicode.Scalar>] = []
            for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                guard let last = result.last, range.lowerBound <= last.upperBound else {
                    result.append(range)
                    continue
                }
                result[result.count - 1] =
                    last.lowerBound...max(last.upperBound, range.upperBound)
            }
            return CharacterSet(
                ranges: result, properties: properties, isInverted: isInverted)
        }

        static let digits = CharacterSet(ranges: ["0"..."9"])
        static let wordCharacters = CharacterSet(
            ranges: ["a"..."z", "A"..."Z", "0"..."9", "_"..."_"])
        static let blanks = CharacterSet(ranges: [
            "\t"..."\r", " "..." ", "\u{A0}"..."\u{A0}", "\u{1680}"..."\u{1680}",
            "\u{2000}"..."\u{200A}", "\u{2028}"..."\u{2029}", "\u{202F}"..."\u{202F}",
            "\u{205F}"..."\u{205F}", "\u{3000}"..."\u{3000}", "\u{FEFF}"..."\u{FEFF}",
        ])
        static let anyInLine = CharacterSet(
            ranges: ["\n"..."\n", "\r"..."\r", "\u{2028}"..."\u{2029}"], isInverted: true)

        var inverted: CharacterSet { CharacterSet(ranges: ranges, isInverted: !isInverted) }

        /// The same characters, not inverted.
        var plainRanges: [ClosedRange<Unicode.Scalar>] {
            guard isInverted else { return ranges }
            var (result, next): ([ClosedRange<Unicode.Scalar>], UInt32) = ([], 0)
            for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                // No range of those above touches the surrogates or the end.
                if next < range.lowerBound.value, let low = Unicode.Scalar(next),
                    let high = Unicode.Scalar(range.lowerBound.value - 1)
                {
                    result.append(low...high)
                }
                next = range.upperBound.value + 1
            }
            if let low = Unicode.Scalar(next) { result.append(low..."\u{10FFFF}") }
            return result
        }
    }

    fileprivate indirect enum Node {
        case character(CharacterSet)
        case start, end
        case sequence([Node])
        case either([Node])
        /// `nil` is without an upper bound.
        case repeated(Node, Int, Int?)
    }
}

// MARK: - Parsing

extension TextPattern {
    fileprivate struct Parser {
        var rest: ArraySlice<Unicode.Scalar>

        private func invalid(_ reason: String) -> Invalid { Invalid(reason: reason) }

        private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == scalar else { return false }
            rest.removeFirst()
            return true
        }

        mutating func alternatives(depth: Int) throws(Invalid) -> Node {
            guard depth <= 32 else { throw invalid("has more than 32 groups in one another") }
            var nodes = [try sequence(depth: depth)]
            while skip("|") { nodes.append(try sequence(depth: depth)) }
            return nodes.count == 1 ? nodes[0] : .either(nodes)
        }

        private mutating func sequence(depth: Int) throws(Invalid) -> Node {
            var nodes: [Node] = []
            while let next = rest.first, next != "|", next != ")" {
                nodes.append(try repeated(depth: depth))
            }
            return .sequence(nodes)
        }

        private mutating func repeated(depth: Int) throws(Invalid) -> Node {
            let node = try single(depth: depth)
            let bounds: (Int, Int?)
            switch rest.first {
            case "*": bounds = (0, nil)
            case "+": bounds = (1, nil)
            case "?": bounds = (0, 1)
            case "{": bounds = try braces()
            default: return node
            }
            rest.removeFirst()
            // A lazy repetition finds another match, and never whether there is one.
            _ = skip("?")
            switch (node, rest.first) {
            case (.start, _), (.end, _): throw invalid("repeats “^” or “$”")
            case (_, "*"), (_, "+"), (_, "?"), (_, "{"): throw invalid("repeats a repetition")
            default: return .repeated(node, bounds.0, bounds.1)
            }
        }

        /// Reads `{2}`, `{2,}` or `{2,4}` up to its closing brace.
        private mutating func braces() throws(Invalid) -> (Int, Int?) {
            rest.removeFirst()
            guard let low = number() else { throw invalid("has a “{” that begins no repetition") }
            var high: Int? = low
            if skip(",") { high = rest.first == "}" ? nil : number() ?? .max }
            guard rest.first == "}", low <= 256, high ?? 0 <= 256, low <= high ?? low else {
                throw invalid("has a repetition that is not {N}, {N,} or {N,M}, up to 256")
            }
            return (low, high)
        }

        private mutating func number() -> Int? {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest.removeFirst(digits.count)
            return Int(String(String.UnicodeScalarView(digits)))
        }

        private mutating func single(depth: Int) throws(Invalid) -> Node {
            let scalar = rest.removeFirst()
            switch scalar {
            case "^": return .start
            case "$": return .end
            case ".": return .character(.anyInLine)
            case "[": return .character(try characterClass())
            case "\\": return .character(try escape())
            case "(":
                if skip("?"), !skip(":") {
                    throw invalid("has a group with “(?”; only (…) and (?:…) are possible")
                }
                let node = try alternatives(depth: depth + 1)
                guard skip(")") else { throw invalid("has a group that doesn't end") }
                return node
            case "*", "+", "?", "{", "}", "]":
                throw invalid(
                    "has a “\(scalar)” where a character is expected; write “\\\(scalar)”")
            default: return .character(CharacterSet(ranges: [scalar...scalar]))
            }
        }

        private mutating func characterClass() throws(Invalid) -> CharacterSet {
            var set = CharacterSet()
            set.isInverted = skip("^")
            while let next = rest.first, next != "]" {
                let low = try classMember()
                guard rest.first == "-", let after = rest.dropFirst().first, after != "]" else {
                    set.ranges += low.plainRanges
                    set.properties += low.properties
                    continue
                }
                rest.removeFirst()
                let high = try classMember()
                guard let first = low.single, let last = high.single, first <= last else {
                    throw invalid("has a range in “[…]” whose ends are not in order")
                }
                set.ranges.append(first...last)
            }
            guard skip("]") else { throw invalid("has a “[” without a “]”") }
            return set
        }

        private mutating func classMember() throws(Invalid) -> CharacterSet {
            let scalar = rest.removeFirst()
            if scalar == "\\" { return try escape() }
            return CharacterSet(ranges: [scalar...scalar])
        }

        /// Reads what follows a backslash.
        private mutating func escape() throws(Invalid) -> CharacterSet {
            guard let scalar = rest.popFirst() else { throw invalid("ends with a backslash") }
            let plain: Unicode.Scalar
            switch scalar {
            case "d": return .digits
            case "D": return CharacterSet.digits.inverted
            case "w": return .wordCharacters
            case "W": return CharacterSet.wordCharacters.inverted
            case "s": return .blanks
            case "S": return CharacterSet.blanks.inverted
            case "p", "P":
                return CharacterSet(properties: [try property(isInverted: scalar == "P")])
            case "n": plain = "\n"
            case "r": plain = "\r"
            case "t": plain = "\t"
            case "u":
                let isBraced = skip("{")
                let digits = rest.prefix { isBraced ? $0 != "}" : true }.prefix(isBraced ? 6 : 4)
                rest.removeFirst(digits.count)
                guard digits.allSatisfy(\.properties.isASCIIHexDigit),
                    let code = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
                    let scalar = Unicode.Scalar(code), isBraced ? skip("}") : digits.count == 4
                else { throw invalid("has a “\\u” without the code of a character") }
                plain = scalar
            case "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/", "-":
                plain = scalar
            default: throw invalid("has “\\\(scalar)”, which is not possible here")
            }
            return CharacterSet(ranges: [plain...plain])
        }

        /// Reads the `{L}` of `\p{L}`.
        private mutating func property(isInverted: Bool) throws(Invalid) -> CharacterProperty {
            guard skip("{") else {
                throw invalid("has a “\\p” without a name in braces, as in “\\p{L}”")
            }
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "}" }))
            rest.removeFirst(name.unicodeScalars.count)
            guard skip("}"), let property = CharacterProperty(name, isInverted: isInverted) else {
                throw invalid(
                    "has “\\p{\(name)}”, which is neither a general category of Unicode's, such "
                        + "as L, Lu or Nd, nor Alphabetic, Uppercase, Lowercase, White_Space, "
                        + "Emoji or Any")
            }
            return property
        }
    }
}

extension TextPattern.CharacterSet {
    /// The only character in it; `nil` if there are more.
    fileprivate var single: Unicode.Scalar? {
        guard !isInverted, properties.isEmpty, ranges.count == 1,
            ranges[0].lowerBound == ranges[0].upperBound
        else { return nil }
        return ranges[0].lowerBound
    }
}

// MARK: - Compiling

extension TextPattern {
    fileprivate struct Compiler {
        /// Each step may be taken at each character of the text, while nothing else is stored.
        private static let limit = 500
        private(set) var steps: [Step] = []
        /// How many nodes have been added: one that takes no step may be repeated, too.
        private var count = 0

        mutating func add(_ node: Node) throws(Invalid) {
            count += 1
            guard steps.count < Self.limit, count < 4 * Self.limit else {
                throw Invalid(reason: "repeats too much: it has more than \(Self.limit) steps")
            }
            switch node {
            case .character(let set): steps.append(.character(set.merged))
            case .start: steps.append(.start)
            case .end: steps.append(.end)
            case .sequence(let nodes): for node in nodes { try add(node) }
            case .either(let nodes): try add(nodes[...])
            case .repeated(let node, let low, let high):
                for _ in 0..<low { try add(node) }
                guard let high else { return try addLoop(node) }
                // Each of the rest may be left out, and all after it.
                var forks: [Int] = []
                for _ in low..<high {
                    forks.append(steps.count)
                    steps.append(.match)
                    try add(node)
                }
                for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
            }
        }

        private mutating func addLoop(_ node: Node) throws(Invalid) {
            let fork = steps.count
            steps.append(.match)
            try add(node)
            steps.append(.fork(fork, fork))
            steps[fork] = .fork(fork + 1, steps.count)
        }

        private mutating func add(_ nodes: ArraySlice<Node>) throws(Invalid) {
            guard nodes.count > 1, let first = nodes.first else {
                if let first = nodes.first { try add(first) }
                return
            }
            let fork = steps.count
            steps.append(.match)
            try add(first)
            let jump = steps.count
            steps.append(.match)
            steps[fork] = .fork(fork + 1, steps.count)
            try add(nodes.dropFirst())
            steps[jump] = .fork(steps.count, steps.count)
        }
    }
}
