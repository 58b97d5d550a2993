/// A screen's attachment to a queue, which ends when it is released or its process ends.
///
/// A store attaches a screen again that was lost, if it can.
package protocol ScreenLease: AnyObject, Sendable {
    /// Identifies this attachment; another one begins after each ``LeaseState/lost``.
    ///
    /// Changes under the epoch of an attachment that is over are refused, so that a screen that was
    /// lost without noticing can't store what its timers say.
    var epoch: Epoch { get }

    /// Tells the other screens what this one shows and can show; returns once they can see it.
    ///
    /// A screen that wants the lead gets it at once, or when it asks for its state and no other one
    /// has it; the alert that it shows stays the current alert then. One that no longer wants it
    /// gives it up. Only the leading screen's ``AttachedScreen/current`` counts.
    ///
    /// - Returns: ``LeaseState/lost`` if they can't be told.
    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState

    /// Returns the state of the lease when it differs from the one given, or after a second.
    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState

    /// Ends the attachment; it is lost from then on.
    func release()
}

/// The state of a screen's lease.
package enum LeaseState: Sendable, Hashable, Codable {
    /// It determines the current alert, for these other screens.
    case leading(ScreenRoster)
    /// It follows one of these screens, or none if none leads.
    case following(ScreenRoster)
    /// It is not attached.
    case lost

    package var isLeading: Bool { if case .leading = self { true } else { false } }

    /// The other screens; `nil` if they are unknown.
    package var others: ScreenRoster? {
        switch self {
        case .leading(let others), .following(let others): others
        case .lost: nil
        }
    }
}

/// One attachment of a screen.
package struct Epoch: Sendable, Hashable, Codable {
    package let number: UInt64

    package init(_ number: UInt64 = .random(in: .min ... .max)) { self.number = number }

    package init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}
