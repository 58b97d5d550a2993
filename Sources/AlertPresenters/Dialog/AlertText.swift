import AlertCore
import FoundationEssentials
import TextFormats

/// An alert as text for a window or a notification, which doesn't change once it is shown.
///
/// All text from outside is neutralised; escaping markup is left to the presenter.
struct AlertText: Sendable {
    /// More would push the buttons off a small screen.
    static let columns = 80

    let title: String
    /// The message, as far as it fits; empty if there is none.
    private(set) var message: String
    /// The parts of the message that fit, one after the other; at least one.
    let pages: [String]
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
        let wrapped = DisplayWidth.wrapped(SafeText.message(alert.message ?? ""), to: Self.columns)
        pages = Self.pages(wrapped, of: lines)
        let rest = "… (the rest: alertq show \(presentation.record.id))"
        let fitting = pages.count == 1 ? wrapped : wrapped.prefix(lines - 1) + [rest]
        message = fitting.joined(separator: "\n")
    }

    /// Lines in parts of at most a number of lines; none for no lines.
    static func pages(_ lines: [String], of count: Int) -> [String] {
        stride(from: 0, to: lines.count, by: count).map { start in
            lines[start..<min(lines.count, start + count)].joined(separator: "\n")
        }
    }

    /// The same with another message.
    func with(_ message: String) -> AlertText {
        var text = self
        text.message = message
        return text
    }

    /// Everything except the title, with an empty line between the parts.
    var body: String {
        [message, facts].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}
