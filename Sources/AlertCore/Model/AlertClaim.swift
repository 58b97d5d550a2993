import FoundationEssentials
import TextFormats

/// A statement that a person or a program deals with a waiting alert, so that others need not.
///
/// It gives no right and answers nothing: anybody who may answer still can. It lapses by itself, and
/// ends with the alert. It is stored only in the audit log.
public struct AlertClaim: Sendable, Hashable, Codable {
    /// How long it lasts unless its claimant says otherwise.
    public static let length = Duration.seconds(15 * 60)

    /// Who deals with it, and through what they said so.
    public package(set) var by: Caller
    /// When it lapses, by the wall clock.
    public let until: Date
    /// The same by the clock that it follows; `nil` if it came from JSON.
    private(set) var end: ClockReading?

    private enum CodingKeys: CodingKey { case by, until }

    /// - Parameter end: When it lapses.
    init(by caller: Caller, until end: ClockReading) {
        by = caller.recorded
        until = Timestamp.date(milliseconds: end.wallMilliseconds)
        self.end = end
    }

    /// A claim that came from JSON.
    package init(by caller: Caller, until date: Date) {
        (by, until) = (caller, date)
    }

    /// Whether it has lapsed.
    func isOver(at now: ClockReading) -> Bool { end.map(now.isAtOrAfter) ?? false }

    /// Whether both say the same.
    public static func == (left: AlertClaim, right: AlertClaim) -> Bool {
        left.by == right.by && left.until == right.until
    }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(by)
        hasher.combine(until)
    }
}
