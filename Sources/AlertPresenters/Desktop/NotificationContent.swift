import AlertCore
import TextFormats

/// The texts and actions of a notification, as far as its server can show them.
struct NotificationContent: Sendable, Hashable {
    struct Action: Sendable, Hashable {
        let key: String
        let label: String
    }

    /// Some servers show no more actions than this.
    private static let actionLimit = 3
    private static let laterKey = "later"

    let summary: String
    let body: String
    let icon: String
    /// 0, 1 or 2: low, normal or critical.
    let urgency: UInt8
    let actions: [Action]

    /// - Parameters:
    ///   - capabilities: What the server says it can do.
    ///   - answering: Returns the command line that answers the alert with a button, by its id.
    init(
        _ record: AlertRecord, _ text: AlertText, capabilities: Set<String>,
        answering: (_ id: Alert.ID, _ button: String) -> String
    ) {
        let alert = record.alert
        let hasActions = capabilities.contains("actions")
        var buttons: [Action] = []
        if hasActions {
            buttons = alert.buttons.enumerated().map {
                Action(key: "\($0.offset)", label: Self.label($0.element.title))
            }
            if !buttons.isEmpty, buttons.count < Self.actionLimit {
                buttons.append(Action(key: Self.laterKey, label: "Later"))
            }
        }
        actions = buttons
        var parts = [text.message, text.facts]
        if !alert.buttons.isEmpty, !hasActions || buttons.count > Self.actionLimit {
            let commands = alert.buttons.map { button in
                SafeText.title(button.title) + ": " + SafeText.line(answering(record.id, button.id))
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

    /// Text in which nothing is markup.
    private static func escaped(_ text: String) -> String {
        DialogProgram.escaped(text)
    }

    /// A label that is right on every server: some parse labels as markup, and show nothing where
    /// that fails, others don't, and none says which it does.
    private static func label(_ title: String) -> String {
        SafeText.title(title).replacing("&", with: "＆").replacing("<", with: "‹")
            .replacing(">", with: "›")
    }
}
