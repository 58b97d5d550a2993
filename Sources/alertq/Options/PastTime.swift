import FoundationEssentials

/// A moment in the past as somebody typed it: “yesterday” and “7d” depend on when they are read.
struct PastTime: Sendable {
    let text: String

    /// - Parameter start: Where a period begins that it ends.
    func date(now: Date, after start: Date? = nil) throws(UsageError) -> Date {
        try DateText.parse(text, now: now, after: start)
    }
}

extension Argument where Value == PastTime {
    static var pastTime: Argument {
        Argument("TIME") { text throws(UsageError) in
            let time = PastTime(text: text)
            _ = try time.date(now: Date())
            return time
        }
    }
}
