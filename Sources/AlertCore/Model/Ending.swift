import FoundationEssentials
import TextFormats

/// How an alert ended, in words that can follow “alert 42: ”.
///
/// The same words are used wherever people read about an ending: `answered “Yes” by ana (a person)
/// via terminal on /dev/pts/3 at 14:05`, `expired at 14:05; nobody answered`.
package struct Ending: Sendable {
    private let outcome: Outcome
    /// The button's name: its label, else its id, else its index.
    private let button: String?
    private let by: ResolvedBy?
    private let responder: Caller?
    private let resolvedAt: Date
    /// Whether it had buttons, so that somebody could have answered.
    private var isQuestion: Bool
    /// Whether it expired without ever being on a screen.
    private var isUnseen = false
    /// Whether a delegate handled the cancel; `nil` if that is not known.
    private var isHandled: Bool?
    /// The alert that was asked in its place.
    private var successor: Alert.ID?

    /// - Parameter isQuestion: Whether the alert had buttons.
    package init(_ response: Response, isQuestion: Bool = true) {
        self.isQuestion = isQuestion
        outcome = response.outcome
        button = Self.name(of: response.button, index: response.buttonIndex)
        by = response.by
        responder = response.responder
        resolvedAt = response.resolvedAt
        isHandled = response.cancelHandling.map { $0 == .handled }
        successor = response.supersededBy
    }

    /// The ending of an alert; `nil` while it waits.
    package init?(_ record: AlertRecord) {
        guard let response = record.response else { return nil }
        self.init(response, isQuestion: !record.alert.buttons.isEmpty)
        isUnseen = record.hasExpiredUnseen
    }

    /// The ending that a log entry records; `nil` for an entry of another kind.
    package init?(_ entry: AuditEntry) {
        guard let outcome = entry.event.outcome else { return nil }
        let event = entry.event
        // The entry of an expiry does not say whether it had buttons.
        isQuestion = false
        self.outcome = outcome
        by = event.by
        button =
            entry.button.map(SafeText.title)
            ?? event.buttonIndex.flatMap { $0 >= 0 ? "#\($0)" : nil }
        responder = entry.isOfTimer ? nil : event.responder
        resolvedAt = event.at
        switch outcome {
        case .expired: isUnseen = entry.expired?.isUnseen ?? false
        case .cancelled:
            if case .cancelled(let isHandled)? = entry.meaning { self.isHandled = isHandled }
        case .answered, .dismissed, .withdrawn: break
        }
    }

    /// The words, without a full stop.
    ///
    /// - Parameter form: How to print the time; `nil` leaves it out, for lines that begin with
    ///   their time.
    package func text(_ form: LocalTime.Form?) -> String {
        let moment = form.map { " at " + LocalTime.text(resolvedAt, $0) } ?? ""
        return what + moment + (consequence.map { "; " + $0 } ?? "")
    }

    private var what: String {
        switch outcome {
        case .answered:
            "answered" + (button.map { " “\($0)”" } ?? "")
                + (by == .policy ? " by policy" : byWhom)
        case .expired: "expired"
        case .dismissed: "dismissed" + (responder == nil ? " by itself" : byWhom)
        case .withdrawn: "withdrawn" + byWhom
        case .cancelled:
            by == .system
                ? "cancelled by the system" + (who.map { " (\($0))" } ?? "") : "cancelled" + byWhom
        }
    }

    /// What the ending meant for the button, or why there is none.
    private var consequence: String? {
        switch outcome {
        case .answered, .dismissed: return nil
        case .withdrawn: return successor.map { "superseded by \($0)" }
        case .expired:
            guard let button else {
                return isUnseen ? "it had not been shown" : isQuestion ? "nobody answered" : nil
            }
            return (isUnseen ? "it had not been shown, and " : "")
                + "the default “\(button)” was applied by policy"
        case .cancelled:
            switch (isHandled, button) {
            case (true?, _): return "the delegate handled it"
            case (false?, let button?): return "its cancel button “\(button)” was simulated"
            case (nil, let button?): return "its cancel button is “\(button)”"
            case (_, nil): return nil
            }
        }
    }

    private var byWhom: String { who.map { " by " + $0 } ?? "" }

    private var who: String? {
        guard let responder else { return nil }
        return SafeText.line(responder.principal.label) + kind
            + " via \(SafeText.line(responder.via))"
            + (responder.process == nil ? " with \(SafeText.line(responder.means.label))" : "")
            + (responder.tty.map { " on " + SafeText.line($0) } ?? "")
    }

    /// Whether a person or a program decided, which is never left open; the other ways are said
    /// elsewhere in the words.
    private var kind: String {
        switch by {
        case .person: " (a person)"
        case .program: " (a program)"
        case .asker: " (its asker)"
        case .policy, .system, nil: ""
        }
    }

    private static func name(of button: Alert.Button?, index: Int) -> String? {
        guard let button else { return index >= 0 ? "#\(index)" : nil }
        // An erased label reads as the index; the id may still be there.
        return SafeText.title(button.title == "#\(index)" ? button.id : button.title)
    }
}

extension Response {
    /// How the alert ended, in words: `answered “Yes” by ana (a person) via terminal at 14:05`.
    package var summary: String { Ending(self).text(.brief(now: Date())) }
}

extension AlertRecord {
    /// How it ended, without its number; its state while it waits.
    package func ending(_ time: LocalTime.Form) -> String {
        Ending(self)?.text(time) ?? state.rawValue
    }

    /// Whether this account asked it.
    package var isOwn: Bool { source.account == .current }
}
