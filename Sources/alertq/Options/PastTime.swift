import FoundationEssentials

/// A moment in the past as somebody typed it: “yesterday” and “7d” depend on when they are read.
struct PastTime: Sendable {
    let text: String

    func date(now: Date) throws(UsageError) -> Date { try DateText.parse(text, now: now) }
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
