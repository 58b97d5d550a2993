/// Buttons as lines of a terminal: on one line if they fit, otherwise one below the other.
struct ButtonLines {
    /// Some of the lines, and which buttons can be read on them.
    struct Window {
        var lines: [StyledLine]
        /// The indices of the choices whose labels are fully visible, or fill the window:
        /// ``labels(longerThan:)`` has the rest.
        var visible: Set<Int>
    }

    private(set) var lines: [StyledLine] = []
    /// The lines of each choice.
    private var ranges: [Range<Int>] = []
    private let selected: Int?
    private let approves: Bool
    private let takesKeys: Bool
    let isList: Bool
    /// Whether a `!` marks destructive choices, because there are no colours to do so.
    let hasMarks: Bool
    let columns: Int

    /// - Parameters:
    ///   - heading: A line above the buttons.
    ///   - approves: Whether others than the one that cancels can be chosen yet.
    ///   - takesKeys: Whether keys go to the buttons; only then is the selected one marked.
    init(
        _ list: ChoiceList, heading: String? = nil, isSheet: Bool, isLive: Bool,
        approves: Bool = true, takesKeys: Bool = true, hasColours: Bool = true, columns: Int
    ) {
        self.takesKeys = takesKeys
        self.approves = approves
        self.columns = columns
        selected = list.selected
        if let heading { lines.append(StyledLine(heading)) }
        hasMarks = !hasColours && list.choices.contains { $0.role == .destructive }
        let marks = hasMarks ? list.choices.count { $0.role == .destructive } * 2 : 0
        let width = list.choices.reduce(marks - 2) {
            $0 + DisplayWidth.maximum(of: $1.title) + 4 + 2
        }
        // On one line, a label with brackets could look like two buttons.
        let hasBrackets = list.choices.contains { $0.title.contains { "[]".contains($0) } }
        // And terminals that support right-to-left text would reorder the labels.
        let isRightToLeft = list.choices.contains { WritingDirection.isRightToLeft($0.title) }
        isList = isSheet || hasBrackets || isRightToLeft || width > columns
        if isList {
            addList(list, isSheet: isSheet, isLive: isLive)
        } else if !list.choices.isEmpty {
            addRow(list, isLive: isLive)
        }
    }

    /// Some of the lines, including those of the selected choice.
    func window(rows: Int) -> Window {
        guard rows < lines.count else {
            return Window(lines: lines, visible: Set(ranges.indices))
        }
        let selection = selected.map { ranges[$0] } ?? 0..<1
        // If the selected label doesn't fit, its beginning is shown.
        let last = min(selection.upperBound, selection.lowerBound + rows)
        let first = min(max(0, last - rows), lines.count - rows)
        var shown = Array(lines[first..<first + rows])
        var readable = first..<first + rows
        if rows >= 3, first > 0, first < selection.lowerBound {
            shown[0] = StyledLine("  ↑ more", .dim)
            readable = first + 1..<readable.upperBound
        }
        if rows >= 3, first + rows < lines.count, first + rows > selection.upperBound {
            shown[rows - 1] = StyledLine("  ↓ more", .dim)
            readable = readable.lowerBound..<first + rows - 1
        }
        let visible = ranges.indices.filter { index in
            let range = ranges[index]
            // A label that is longer than the window counts as visible when it fills it.
            return readable.contains(range.lowerBound)
                && (readable.upperBound >= range.upperBound || range.lowerBound == first)
        }
        return Window(lines: shown, visible: Set(visible))
    }

    /// The labels that have more lines than a window, to be read above the buttons.
    func labels(longerThan rows: Int) -> [StyledLine] {
        ranges.filter { $0.count > rows }.flatMap { range in
            range.map { StyledLine(($0 == range.lowerBound ? "- " : "  ") + labelText($0)) }
        }
    }

    /// What a line of the list has of a label, without the mark before it.
    private func labelText(_ line: Int) -> String { lines[line].runs.last?.text ?? "" }

    private mutating func addRow(_ list: ChoiceList, isLive: Bool) {
        var line = StyledLine()
        for (index, choice) in list.choices.enumerated() {
            if index > 0 { line.add("  ") }
            line.add("[ \(label(choice)) ]", look(choice, isMarked(index), isLive))
        }
        ranges = list.choices.map { _ in lines.count..<lines.count + 1 }
        lines.append(line)
    }

    private mutating func addList(_ list: ChoiceList, isSheet: Bool, isLive: Bool) {
        for (index, choice) in list.choices.enumerated() {
            if isSheet, choice.role == .cancel, index > 0 { lines.append(StyledLine()) }
            let isSelected = isMarked(index)
            // Only the first nine have a digit.
            let number = list.hasNumbers && index < 9 ? "\(index + 1) " : ""
            let mark = (isSelected ? "› " : "  ") + number
            let room = max(1, columns - DisplayWidth.of(mark))
            let first = lines.count
            for text in DisplayWidth.wrapped(label(choice), to: room) {
                let indent = String(repeating: " ", count: mark.count)
                var line = StyledLine(lines.count == first ? mark : indent)
                line.add(text, look(choice, isSelected, isLive))
                lines.append(line)
            }
            ranges.append(first..<lines.count)
        }
    }

    private func isMarked(_ index: Int) -> Bool { takesKeys && selected == index }

    private func label(_ choice: Choice) -> String {
        hasMarks && choice.role == .destructive ? "! " + choice.title : choice.title
    }

    private func look(
        _ choice: Choice, _ isSelected: Bool, _ isLive: Bool
    ) -> StyledLine.Look {
        var look: StyledLine.Look = choice.role == .destructive ? .danger : []
        if isSelected { look.insert(.inverse) }
        if !isLive || !(approves || choice.role == .cancel) { look.insert(.dim) }
        return look
    }
}
