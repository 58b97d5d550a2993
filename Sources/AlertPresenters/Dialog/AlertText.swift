import AlertCore
import FoundationEssentials
import TextFormats

/// An alert as text for a window or a notification, which doesn't change once it is shown.
///
/// All text from outside is neutralised; escaping markup is left to the presenter.
struct AlertText: Sendable {
    /// More would push the buttons off a small screen.
    private static let columns = 80

    let title: String
    /// The message; empty if there is none.
    let message: String
    /// Who asks, how urgently, since when, whether nobody waits for the answer, how many others wait,
    /// and when the alert ends by itself.
    let facts: String

    /// - Parameters:
    ///   - user: The name of the account that asks.
    ///   - lines: How many lines the message may take.
    init(_ presentation: Presentation, user: String?, host: String, lines: Int, now: Date = Date())
    {
        let alert = presentation.alert
        title = SafeText.title(alert.title)
        facts = AlertFacts(presentation, host: host).lastingTexts(user: user, now: now)
            .joined(separator: " · ")
        var wrapped = SafeText.message(alert.message ?? "")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .prefix(lines + 1).flatMap { DisplayWidth.wrapped(String($0), to: Self.columns) }
        if wrapped.count > lines {
            wrapped =
                wrapped.prefix(lines - 1)
                + ["… (the rest: alertq show \(presentation.record.id))"]
        }
        message = wrapped.joined(separator: "\n")
    }

    /// Everything except the title, with an empty line between the parts.
    var body: String {
        [message, facts].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}
