import AlertCore
import SQLite

/// An expiry, and what shows whether its deadline had passed.
struct ExpiryCheck {
    /// What the entry says besides its columns; `nil` for what no expiry says.
    private let told: EntryDetail.Expired?
    /// The entry's time.
    private let wallMilliseconds: Int64
    private let expiry: ClockReading?
    /// Whether a button was named that applies if nobody answers.
    private let hasDefault: Bool

    init(
        detail: String?, wallMilliseconds: Int64, expiry: ClockReading?, hasDefault: Bool
    ) {
        told = EntryDetail.expired(detail)
        self.wallMilliseconds = wallMilliseconds
        self.expiry = expiry
        self.hasDefault = hasDefault
    }

    /// Whether the entry is of the form that versions before schema 5 wrote.
    var isOlder: Bool {
        if case .older = told { true } else { false }
    }

    /// Whether the entry says that the alert had never been on a screen.
    var isUnseen: Bool {
        if case .told(_, true, _, _) = told { true } else { false }
    }

    /// Whether the deadline had passed by its own clock: the boot clock in the boot in which the
    /// alert was asked, else, and for a moment, the wall clock. Before that only a default button
    /// applies, where nobody is there who could answer.
    ///
    /// The older form doesn't say what the boot clock said, and so there is less to check.
    var isInTime: Bool {
        switch told {
        case nil: return false
        case .older(let isEarly): return isEarly ? hasDefault : expiry != nil
        case .told(let isEarly, _, let bootMilliseconds, let boot):
            let end = ClockReading(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds, boot: boot)
            let isOver = expiry.map { end.isAtOrAfter($0) } ?? false
            return isOver || (isEarly && hasDefault)
        }
    }
}

extension ExpiryCheck {
    private typealias Column = ResponseContents.Column

    /// Of a row of ``ResponseContents``.
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
