import AlertCore
import TextFormats

/// The texts and actions of a notification, as far as its server can show them.
struct NotificationContent: Sendable {
    struct Action: Sendable, Hashable {
        let key: String
        let label: String
    }

    /// Some servers show no more actions than this.
    private static let actionLimit = 3
    private static let laterKey = "later"
    /// The action of a server that takes a text; see KDE's
    /// [KNotificationReplyAction](https://api.kde.org/knotificationreplyaction.html).
    static let replyKey = "inline-reply"

    let summary: String
    let body: String
    let icon: String
    /// 0, 1 or 2: low, normal or critical.
    let urgency: UInt8
    let actions: [Action]
    /// What a text that is entered in the notification is for; `nil` if none can be.
    let reply: (button: Int, field: Alert.Field)?

    /// - Parameters:
    ///   - capabilities: What the server says it can do.
    ///   - problem: Why the text that was entered before is refused; `nil` at first.
    ///   - answering: Returns the command line that answers the alert with a button, by its id.
    init(
        _ record: AlertRecord, _ text: AlertText, capabilities: Set<String>,
        problem: String? = nil, answering: DesktopPresenter.Answering
    ) {
        let alert = record.alert
        let hasActions = capabilities.contains("actions")
        // Nobody approves what they have not seen.
        let isCut = text.pages.count > 1
        let takesText = capabilities.contains(Self.replyKey) && !isCut
        let reply = takesText ? Self.reply(to: alert) : nil
        self.reply = reply
        var buttons: [Action] = []
        if hasActions {
            buttons = alert.buttons.enumerated().compactMap { index, button in
                let label = Self.label(button.title)
                if reply?.button == index { return Action(key: Self.replyKey, label: label) }
                let isUnseen = isCut || !alert.fields.isEmpty
                guard button.role == .cancel || !isUnseen else { return nil }
                return Action(key: "\(index)", label: label)
            }
        }
        let areComplete = buttons.count == alert.buttons.count
        if !buttons.isEmpty, buttons.count < Self.actionLimit {
            buttons.append(Action(key: Self.laterKey, label: "Later"))
        }
        actions = buttons
        let asked = reply.map { [$0.field.title] + $0.field.hints + [$0.field.detail ?? ""] } ?? []
        var parts = [
            problem.map { "⚠ " + SafeText.line($0) } ?? "", text.message, text.facts,
            asked.filter { !$0.isEmpty }.map(SafeText.line).joined(separator: " · "),
        ]
        if !areComplete || buttons.count > Self.actionLimit {
            let commands = alert.buttons.map { button in
                let fields = button.role == .cancel ? [] : alert.fields
                return SafeText.title(button.title) + ": "
                    + SafeText.line(answering(record.id, button.id, fields))
            }
            parts.append((["To answer:"] + commands).joined(separator: "\n"))
        }
        let body = parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
        if capabilities.contains("body") {
            summary = text.title
            self.body = capabilities.contains("body-markup") ? Self.escaped(body) : body
        } else {
            summary = text.title + "\n" + body
            self.body = ""
        }
        let destroys = alert.buttons.contains { $0.role == .destructive }
        icon =
            alert.buttons.isEmpty
            ? "dialog-information" : destroys ? "dialog-warning" : "dialog-question"
        urgency =
            switch alert.priority {
            case .low: 0
            case .normal, .high: 1
            case .critical: 2
            }
    }

    /// The choice that an action stands for; `nil` for an action that was not offered.
    func choice(_ key: String) -> PresenterChoice? {
        guard actions.contains(where: { $0.key == key }) else { return nil }
        if key == Self.laterKey { return .later(nil) }
        return Int(key).map { .button($0) }
    }

    /// The choice that a text stands for which was entered in the notification.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for a value that doesn't fit.
    func choice(reply text: String) throws(AlertError) -> PresenterChoice? {
        guard let (button, field) = reply else { return nil }
        let value = try field.value(typed: [text])
        guard !field.misses(value) else { throw field.missingValue }
        let values = (value ?? field.emptied).map { [field.id: $0] } ?? [:]
        return .button(button, Alert.Input(values: values))
    }

    /// A question with one field that is typed, and one button that takes its value.
    private static func reply(to alert: Alert) -> (button: Int, field: Alert.Field)? {
        let buttons = alert.buttons.indices.filter { alert.buttons[$0].role != .cancel }
        guard alert.fields.count == 1, buttons.count == 1 else { return nil }
        switch alert.fields[0].kind {
        case .text, .integer, .number: return (buttons[0], alert.fields[0])
        case .boolean, .choice, .choices: return nil
        }
    }

    /// Text in which nothing is markup.
    private static func escaped(_ text: String) -> String {
        DialogProgram.escaped(text)
    }

    /// A label that is right on every server: some parse labels as markup, and show nothing where
    /// that fails, others don't, and none says which it does.
    private static func label(_ title: String) -> String {
        SafeText.title(title).replacingScalars(["&": "＆", "<": "‹", ">": "›"])
    }
}
