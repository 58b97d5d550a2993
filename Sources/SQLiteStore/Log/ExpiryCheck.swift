import AlertCore
import SQLite

/// An expiry, and the evidence that its deadline had passed.
struct ExpiryCheck {
    /// The entry's detail; `nil` if it is not an expiry's.
    private let recorded: EntryDetail.Expired?
    /// The entry's time.
    private let wallMilliseconds: Int64
    private let expiry: ClockReading?
    /// Whether a default button was named.
    private let hasDefault: Bool

    init(
        detail: String?, wallMilliseconds: Int64, expiry: ClockReading?, hasDefault: Bool
    ) {
        recorded = EntryDetail.expired(detail)
        self.wallMilliseconds = wallMilliseconds
        self.expiry = expiry
        self.hasDefault = hasDefault
    }

    /// Whether the entry has the form of versions before schema 5.
    var isOlder: Bool {
        if case .older = recorded { true } else { false }
    }

    /// Whether the entry records that the alert had never been on a screen.
    var isUnseen: Bool {
        if case .recorded(_, true, _, _) = recorded { true } else { false }
    }

    /// Whether the deadline had passed by its own clock: the boot clock in the boot in which the
    /// alert was asked; the wall clock otherwise, and for a deadline given as a date. Before that
    /// only a default button can be applied, if nobody is there to answer.
    ///
    /// The older form doesn't contain the boot clock's time, so there is less to check.
    var isInTime: Bool {
        switch recorded {
        case nil: return false
        case .older(let isEarly): return isEarly ? hasDefault : expiry != nil
        case .recorded(let isEarly, _, let bootMilliseconds, let boot):
            let end = ClockReading(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds, boot: boot)
            let isOver = expiry.map { end.isAtOrAfter($0) } ?? false
            return isOver || (isEarly && hasDefault)
        }
    }
}

extension ExpiryCheck {
    private typealias Column = ResponseContents.Column

    /// Creates a check from a row of ``ResponseContents``.
    init(_ row: borrowing Row, detail: String?) {
        self.init(
            detail: detail, wallMilliseconds: row.integer(Column.resolvedMs),
            expiry: Expiry.moment(
                wallMilliseconds: row.optionalInteger(Column.expiresMs),
                bootMilliseconds: row.optionalInteger(Column.expiresBootMs),
                boot: row.text(Column.boot)),
            // The name of an erased button is erased, too.
            hasDefault: row.isNull(Column.salt)
                ? row.integer(Column.buttonIndex) >= 0 : !row.isNull(Column.defaultButton))
    }
}
