/// Buttons as lines of a terminal: on one line where they fit, else one below the other.
struct ButtonLines {
    var lines: [StyledLine] = []
    /// The lines of the selected button.
    var selection: Range<Int>?
    let isList: Bool
    /// Whether a `!` stands before what destroys, because there are no colours to show it.
    let hasMarks: Bool
    let columns: Int

    init(_ list: ChoiceList, isSheet: Bool, isLive: Bool, hasColours: Bool = true, columns: Int) {
        self.columns = columns
        hasMarks = !hasColours && list.choices.contains { $0.role == .destructive }
        let marks = hasMarks ? list.choices.count { $0.role == .destructive } * 2 : 0
        let width = list.choices.reduce(marks - 2) { $0 + DisplayWidth.of($1.title) + 4 + 2 }
        // On one line, a label with brackets could pass for two buttons.
        let hasBrackets = list.choices.contains { $0.title.contains { "[]".contains($0) } }
        isList = isSheet || hasBrackets || width > columns
        if isList {
            addList(list, isSheet: isSheet, isLive: isLive)
        } else if !list.choices.isEmpty {
            addRow(list, isLive: isLive)
        }
    }

    /// Some of the lines, the selected ones among them.
    func window(rows: Int) -> [StyledLine] {
        guard rows < lines.count else { return lines }
        let selection = selection ?? 0..<1
        // The end of the selected label gives way to its beginning.
        let last = min(selection.upperBound, selection.lowerBound + rows)
        let first = min(max(0, last - rows), lines.count - rows)
        var shown = Array(lines[first..<first + rows])
        guard rows >= 3 else { return shown }
        if first > 0, first < selection.lowerBound {
            shown[0] = StyledLine("  ↑ more", .dim)
        }
        if first + rows < lines.count, first + rows > selection.upperBound {
            shown[rows - 1] = StyledLine("  ↓ more", .dim)
        }
        return shown
    }

    private mutating func addRow(_ list: ChoiceList, isLive: Bool) {
        var line = StyledLine()
        for (place, choice) in list.choices.enumerated() {
            if place > 0 { line.add("  ") }
            line.add("[ \(label(choice)) ]", look(choice, list.selected == place, isLive))
        }
        lines = [line]
        selection = 0..<1
    }

    private mutating func addList(_ list: ChoiceList, isSheet: Bool, isLive: Bool) {
        for (place, choice) in list.choices.enumerated() {
            if isSheet, choice.role == .cancel, place > 0 { lines.append(StyledLine()) }
            let isSelected = list.selected == place
            // The ninth is the last with a digit.
            let number = list.hasNumbers && place < 9 ? "\(place + 1) " : ""
            // In the narrowest of windows, the label is all that fits.
            let mark = columns < 8 ? "" : (isSelected ? "› " : "  ") + number
            let room = max(1, columns - DisplayWidth.of(mark))
            let first = lines.count
            for text in DisplayWidth.wrapped(label(choice), to: room) {
                let indent = String(repeating: " ", count: mark.count)
                var line = StyledLine(lines.count == first ? mark : indent)
                line.add(text, look(choice, isSelected, isLive))
                lines.append(line)
            }
            if isSelected { selection = first..<lines.count }
        }
    }

    private func label(_ choice: Choice) -> String {
        hasMarks && choice.role == .destructive ? "! " + choice.title : choice.title
    }

    private func look(
        _ choice: Choice, _ isSelected: Bool, _ isLive: Bool
    ) -> StyledLine.Look {
        var look: StyledLine.Look = choice.role == .destructive ? .danger : []
        if isSelected { look.insert(.inverse) }
        if !isLive { look.insert(.dim) }
        return look
    }
}
