import AlertCore
import TextFormats

/// Statistics as one drawing of five figures: SVG, see <https://www.w3.org/TR/SVG2/>, in the light or
/// dark colours that its reader prefers.
package struct StatisticsDrawing {
    private static let width = 720.0
    private static let margin = 24.0
    private static let room = width - 2 * margin
    /// How many sources and persons it shows.
    private static let shown = 8

    private let statistics: AlertStatistics
    private let days: StatisticsDays
    private var elements: [String] = []
    /// Where the next element goes.
    private var y = margin

    /// - Parameter title: What is counted, for its heading.
    package init(_ statistics: AlertStatistics, _ days: StatisticsDays, title: String) {
        (self.statistics, self.days) = (statistics, days)
        text(title, x: Self.margin, y: y + 16, "title")
        y += 40
        drawDays()
        drawEnds()
        drawTimes()
        let sources = statistics.sources.map { Bar($0.name, $0.counts.asked, $0.answers) }
        draw(sources, "By source", "asked")
        let users = statistics.users.map { Bar($0.name, $0.answers.count, $0.answers) }
        draw(users, "By person", "answers")
    }

    /// The document.
    package var svg: String {
        let (width, height) = (Self.number(Self.width), Self.number(y))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img" aria-label="Numbers of a queue">
            <style>\(Self.style)</style>
            <rect class="ground" width="\(width)" height="\(height)"/>

            """ + elements.joined(separator: "\n") + "\n</svg>\n"
    }

    private static let style = """
        svg{color-scheme:light dark;font:13px system-ui,sans-serif}\
        text{fill:#1d1d1f}.ground{fill:#fff}.title{font-size:18px;font-weight:600}\
        .heading{font-size:15px;font-weight:600}.note{fill:#5c5c63}.end{text-anchor:end}\
        .middle{text-anchor:middle}.axis{stroke:#c9c9cf}.bar{fill:#3367d6}\
        .answered{fill:#1a7f5a}.cancelled{fill:#b8661b}.dismissed{fill:#7b7f87}\
        .expired{fill:#c23b32}.withdrawn{fill:#8a63b8}.waiting{fill:#3367d6}\
        @media(prefers-color-scheme:dark){text{fill:#f2f2f4}.ground{fill:#1c1c1f}\
        .note{fill:#a8a8b0}.axis{stroke:#47474d}.bar,.waiting{fill:#7aa2f7}\
        .answered{fill:#4fc08d}.cancelled{fill:#e0985a}.dismissed{fill:#9a9ea6}\
        .expired{fill:#ef7770}.withdrawn{fill:#b899dd}}
        """

    // MARK: - Figures

    /// A bar for each day, divided by how the questions of that day ended.
    private mutating func drawDays() {
        let (all, height) = (statistics.days, 120.0)
        let most = all.map(\.counts.asked).max() ?? 0
        heading("Questions a day", most == 0 ? "none in these days" : "at most \(most)")
        guard most > 0, let first = all.first, let last = all.last else { return }
        let slot = Self.room / Double(all.count)
        for (index, day) in all.enumerated() where day.counts.asked > 0 {
            let x = Self.margin + Double(index) * slot
            var top = y + height
            let parts = Self.parts(of: day.counts)
            let bars = parts.map { name, count in
                let size = height * Double(count) / Double(most)
                top -= size
                return Self.rect(x, top, max(0.5, slot * 0.8), size, name)
            }
            let what = parts.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
            add(bars.joined(), named: "\(days.name(of: day)): \(day.counts.asked) asked, \(what)")
        }
        y += height
        elements.append(
            "<path class=\"axis\" d=\"M\(Self.number(Self.margin)) \(Self.number(y))"
                + "h\(Self.number(Self.room))\"/>")
        text(days.name(of: first), x: Self.margin, y: y + 16, "note")
        text(days.name(of: last), x: Self.width - Self.margin, y: y + 16, "note end")
        y += 40
    }

    /// One bar of all questions, and what its parts mean.
    private mutating func drawEnds() {
        let (parts, total) = (Self.parts(of: statistics.total), statistics.total.asked)
        heading("How they ended", total == 0 ? "nothing was asked" : "\(total) asked")
        guard total > 0 else { return }
        var x = Self.margin
        for (name, count) in parts {
            let size = Self.room * Double(count) / Double(total)
            add(Self.rect(x, y, size, 24, name), named: "\(count) \(name)")
            x += size
        }
        y += 44
        for (index, part) in parts.enumerated() {
            let place = Self.margin + Self.room / 3 * Double(index % 3)
            let line = y + 22 * Double(index / 3)
            elements.append(Self.rect(place, line - 10, 11, 11, part.name))
            let share = Self.percent(part.count, of: total)
            text("\(part.name) \(part.count), \(share)", x: place + 18, y: line)
        }
        y += 22 * Double((parts.count + 2) / 3) + 18
    }

    /// A bar for each length of time in which people answered.
    private mutating func drawTimes() {
        let times = statistics.timeFromAsked
        let bars = times.histogram.filter { $0.count > 0 }
        let note =
            if let median = times.median, let most = times.percentile(90) {
                "half within \(LengthText.text(median)), 90 % within \(LengthText.text(most))"
            } else {
                "nobody has answered"
            }
        heading("How long people took", note)
        let most = bars.map(\.count).max() ?? 1
        for bar in bars {
            text(bar.label, x: Self.margin + 110, y: y + 13, "end")
            let size = 480 * Double(bar.count) / Double(most)
            elements.append(Self.rect(Self.margin + 122, y + 2, max(1, size), 14, "bar"))
            text("\(bar.count)", x: Self.margin + 130 + size, y: y + 13)
            y += 20
        }
        y += 24
    }

    /// A source or a person.
    private struct Bar {
        let (name, count, answers): (String, Int, AnswerTimes.Summary)

        init(_ name: String, _ count: Int, _ answers: AnswerTimes.Summary) {
            (self.name, self.count, self.answers) = (name, count, answers)
        }
    }

    /// A bar for each of those with most alerts, and how long people took.
    private mutating func draw(_ bars: [Bar], _ title: String, _ counted: String) {
        let more = bars.count - Self.shown
        heading(title, bars.isEmpty ? "none" : more > 0 ? "and \(more) more" : "")
        guard !bars.isEmpty else { return }
        let ends = [480.0, 580, Self.width - Self.margin]
        for (name, end) in zip([counted, "median", "90 % within"], ends) {
            text(name, x: end, y: y + 6, "note end")
        }
        y += 14
        let most = bars.map(\.count).max() ?? 1
        for bar in bars.prefix(Self.shown) {
            text(Self.cut(bar.name), x: Self.margin, y: y + 14)
            let size = 220 * Double(bar.count) / Double(max(1, most))
            elements.append(Self.rect(210, y + 3, max(1, size), 14, "bar"))
            let cells = [
                "\(bar.count)", bar.answers.median.map(LengthText.text) ?? "-",
                bar.answers.percentile90.map(LengthText.text) ?? "-",
            ]
            for (cell, end) in zip(cells, ends) { text(cell, x: end, y: y + 14, "end") }
            y += 22
        }
        y += 24
    }

    /// How many have ended in each way, and how many wait; without those of which there are none.
    private static func parts(
        of counts: AlertStatistics.Counts
    ) -> [(name: String, count: Int)] {
        (Outcome.allCases.map { ($0.rawValue, counts.outcomes[$0] ?? 0) }
            + [("waiting", counts.waiting)]).filter { $0.1 > 0 }
    }

    private static func percent(_ count: Int, of total: Int) -> String {
        let share = Double(count) / Double(total) * 100
        return share < 1 ? "under 1 %" : "\(Int(share.rounded())) %"
    }

    private static func cut(_ name: String) -> String {
        name.count > 24 ? name.prefix(23) + "…" : name
    }

    // MARK: - Elements

    private mutating func heading(_ title: String, _ note: String) {
        text(title, x: Self.margin, y: y + 14, "heading")
        text(note, x: Self.width - Self.margin, y: y + 14, "note end")
        y += 32
    }

    /// Adds elements that have a name, which browsers show under the pointer.
    private mutating func add(_ content: String, named name: String) {
        elements.append("<g><title>\(Self.escaped(name))</title>\(content)</g>")
    }

    private mutating func text(_ text: String, x: Double, y: Double, _ style: String = "") {
        let style = style.isEmpty ? "" : " class=\"\(style)\""
        elements.append(
            "<text\(style) x=\"\(Self.number(x))\" y=\"\(Self.number(y))\">"
                + "\(Self.escaped(text))</text>")
    }

    private static func rect(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String
    ) -> String {
        "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" "
            + "width=\"\(number(width))\" height=\"\(number(height))\"/>"
    }

    /// A number with one decimal.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// A text from anywhere, with its control characters made visible.
    private static func escaped(_ text: String) -> String {
        // A sign with an accent is another character, and markup all the same.
        SafeText.line(text).replacingScalars([
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;",
        ])
    }
}
