/// A text that a person or a program typed and that can't be read; the description says why.
package struct UnreadableText: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Durations as people type them: `90s`, `10m`, `1h30m`, `2d`, `1w`, `500ms`, or plain
/// seconds.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
        ("ms", 1),
    ]

    /// The longest duration: 100 years.
    package static let longest = Duration.seconds(100 * 366 * 86_400)

    /// Reads a duration: more than zero, and at most 100 years.
    package static func parse(_ text: String) throws(UnreadableText) -> Duration {
        guard !text.isEmpty else {
            throw UnreadableText("the duration is empty; write it like 90s, 10m or 1h30m")
        }
        guard let duration = try length(text) else {
            let advice = suggestion(for: text) ?? "it like 90s, 10m, 1h30m, 2d, 1w or 500ms"
            throw UnreadableText("“\(text)” is not a duration; write \(advice)")
        }
        return duration
    }

    /// Reads a duration; `nil` for a text that does not have the form of one.
    package static func length(_ text: String) throws(UnreadableText) -> Duration? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? String(text.dropFirst()) : text
        guard !digits.isEmpty, let milliseconds = try milliseconds(digits) else { return nil }
        guard !isNegative else {
            throw UnreadableText("“\(text)” is negative; a duration must be more than zero")
        }
        guard milliseconds > 0 else {
            throw UnreadableText("“\(text)” is zero; a duration must be more than zero")
        }
        return .milliseconds(milliseconds)
    }

    /// The duration that was probably meant by a text that is none, such as `0.3s` or `10 minutes`.
    package static func suggestion(for text: String) -> String? {
        let number = text.prefix { ("0"..."9").contains($0) || $0 == "." || $0 == "," }
        let word = text.dropFirst(number.count).filter { $0 != " " }.lowercased()
        let points = String(number.map { $0 == "," ? "." : $0 })
        guard let count = Double(digits: points),
            let unit = units.first(where: { unit in
                unit.name == word || word.isEmpty && unit.name == "s"
                    || words[unit.name]?.contains { $0 == word || $0 + "s" == word } == true
            })
        else { return nil }
        let milliseconds = (count * Double(unit.milliseconds)).rounded()
        guard milliseconds >= 1, milliseconds <= Double(longest.milliseconds) else { return nil }
        var rest = Int64(milliseconds)
        return units.reduce(into: "") { result, unit in
            if rest >= unit.milliseconds { result += "\(rest / unit.milliseconds)\(unit.name)" }
            rest %= unit.milliseconds
        }
    }

    /// What else people write for the units.
    private static let words = [
        "ms": ["msec", "millisecond"], "s": ["sec", "second"], "m": ["min", "minute"],
        "h": ["hr", "hour"], "d": ["day"], "w": ["wk", "week"],
    ]

    /// The sum of the parts, or `nil` for a text that is not a duration.
    private static func milliseconds(_ text: String) throws(UnreadableText) -> Int64? {
        var rest = text[...].utf8
        var total: Int64 = 0
        // Units go from long to short, each at most once: `30m1h` is more likely a slip.
        var allowed = units[...]
        if rest.allSatisfy(isDigit) { return try product(text, rest, 1_000) }
        while !rest.isEmpty {
            let digits = rest.prefix(while: isDigit)
            rest = rest.dropFirst(digits.count)
            let unit = String(Substring(rest.prefix { !isDigit($0) }))
            guard !digits.isEmpty, let index = allowed.firstIndex(where: { $0.name == unit }) else {
                return nil
            }
            let (sum, overflow) = total.addingReportingOverflow(
                try product(text, digits, units[index].milliseconds))
            guard !overflow else { throw tooLong(text) }
            total = sum
            allowed = units[(index + 1)...]
            rest = rest.dropFirst(unit.utf8.count)
        }
        guard total <= longest.milliseconds else { throw tooLong(text) }
        return total
    }

    private static func product(
        _ text: String, _ digits: Substring.UTF8View, _ unit: Int64
    ) throws(UnreadableText) -> Int64 {
        guard let count = Int64(Substring(digits)) else { throw tooLong(text) }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= longest.milliseconds else { throw tooLong(text) }
        return product
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func tooLong(_ text: String) -> UnreadableText {
        UnreadableText("“\(text)” is longer than 100 years")
    }
}
