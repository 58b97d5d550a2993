import AlertCore
import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Notification content", .inParallel)
struct NotificationContentTests {
    private func content(_ alert: Alert, _ capabilities: Set<String>) -> NotificationContent {
        let presentation = Presentation.of(alert)
        let text = AlertText(presentation, user: "ana", host: "", lines: 10)
        return NotificationContent(
            presentation.record, text, capabilities: capabilities,
            answering: { id, button, fields in
                "alertq answer \(id) \(button)" + fields.map { " --set \($0.id)=…" }.joined()
            })
    }

    private let alert = Alert(
        "A & <b>?", message: "x < y", buttons: [.destructive("Yes", id: "y"), .cancel("No")])

    @Test("A server with actions gets the buttons, and “Later” if there is room")
    func actions() {
        let content = content(alert, ["actions", "body"])
        #expect(content.actions.map(\.label) == ["Yes", "No", "Later"])
        #expect(content.choice("0") == .button(0) && content.choice("1") == .button(1))
        #expect(content.choice("later") == .later(nil))
        for key in ["2", "-1", "default", "", "00", "Yes"] { #expect(content.choice(key) == nil) }
        #expect(!content.body.contains("alertq answer"))
    }

    @Test("A text that stays says if nobody waits for the answer", arguments: [true, false])
    func orphaned(isOrphaned: Bool) {
        let presentation = Presentation.of(alert, waitingCount: 2, isOrphaned: isOrphaned)
        let text = AlertText(presentation, user: "ana", host: "", lines: 10)
        #expect(text.facts.contains(" · nobody waits for the answer · 2 more wait") == isOrphaned)
        #expect(text.facts.contains("nobody waits") == isOrphaned)
    }

    @Test("A server without actions, or with too few, shows how to answer")
    func noActions() {
        let plain = content(alert, ["body"])
        #expect(plain.actions.isEmpty)
        #expect(
            plain.body.hasSuffix("To answer:\nYes: alertq answer 42 y\nNo: alertq answer 42 No"))
        let many = content(
            Alert("T", buttons: (0..<5).map { .init("\($0)") }), ["actions", "body"])
        #expect(many.actions.count == 5 && many.body.contains("alertq answer 42 4"))
        #expect(!content(Alert("Done"), ["body"]).body.contains("answer"))
    }

    @Test("Markup is escaped if the server parses it, and only then")
    func markup() {
        #expect(content(alert, ["body", "body-markup"]).body.hasPrefix("x &lt; y"))
        #expect(content(alert, ["body"]).body.hasPrefix("x < y"))
        #expect(content(alert, ["body", "body-markup"]).summary == "A & <b>?")
        let bare = content(alert, [])
        #expect(bare.body.isEmpty && bare.summary.hasPrefix("A & <b>?\nx < y"))
        let label = content(Alert("T", buttons: ["<b>&"]), ["actions"]).actions.first?.label
        #expect(label == "‹b›＆")
    }

    @Test("Priority determines urgency, and no text breaks out of its line")
    func urgency() {
        let urgencies = Alert.Priority.allCases.map { priority in
            content(Alert("T", priority: priority), []).urgency
        }
        #expect(urgencies == [0, 1, 1, 2])
        for text in hostileTexts {
            let content = content(
                Alert(text, message: text, buttons: [.init(text, id: text)]), ["actions", "body"])
            for part in [content.summary, content.body] + content.actions.map(\.label) {
                #expect(SafeText.lines(part) == part)
            }
        }
    }

    @Test("A single text is entered in the notification, where its server takes one")
    func reply() throws {
        var alert = Alert("Which host?", buttons: ["Save", .cancel("Skip")])
        alert.fields = [Alert.Field("port", .integer(1...9), title: "Port", isRequired: true)]
        let content = content(alert, ["actions", "body", "inline-reply"])
        #expect(content.actions.map(\.key) == ["inline-reply", "1", "later"])
        #expect(!content.body.contains("To answer"))
        let input = Alert.Input(values: ["port": .integer(7)])
        #expect(try content.choice(reply: "7") == .button(0, input))
        #expect(content.choice("0") == nil && content.choice("inline-reply") == nil)
        for text in ["", "10", "seven"] {
            #expect(throws: AlertError.self) { try content.choice(reply: text) }
        }
    }

    @Test("Where a message is cut, only the button that cancels is an action, and no text is taken")
    func cut() throws {
        var alert = alert
        alert.message = (1...30).map { "\($0)" }.joined(separator: "\n")
        let content = content(alert, ["actions", "body", "inline-reply"])
        #expect(content.actions.map(\.label) == ["No", "Later"])
        #expect(content.choice("0") == nil && content.choice("1") == .button(1))
        #expect(content.body.contains("(the rest: alertq show 42)"))
        #expect(content.body.contains("To answer:\nYes: alertq answer 42 y"))
        alert.fields = [Alert.Field("port")]
        #expect(self.content(alert, ["actions", "body", "inline-reply"]).reply == nil)
    }

    @Test("What a text is for is shown with the notification that takes it")
    func described() {
        var alert = Alert("Which host?", buttons: ["Save", .cancel("Skip")])
        alert.fields = [
            Alert.Field("port", .integer(1...9), title: "Port", detail: "Not \u{202E}22.")
        ]
        let body = content(alert, ["actions", "body", "inline-reply"]).body
        #expect(body.hasSuffix("Port · optional · a whole number from 1 to 9 · Not ⟨U+202E⟩22."))
    }

    @Test("A button that needs values is no action, and the text says how to choose it")
    func fields() throws {
        var alert = Alert("Where?", buttons: ["Save", .cancel("Skip")])
        alert.fields = [Alert.Field("host", isRequired: true), Alert.Field("path")]
        let content = content(alert, ["actions", "body", "inline-reply"])
        #expect(content.actions.map(\.key) == ["1", "later"])
        #expect(
            content.body.hasSuffix(
                "To answer:\nSave: alertq answer 42 Save --set host=… --set path=…\n"
                    + "Skip: alertq answer 42 Skip"))
        #expect(try content.choice(reply: "nas") == nil)
        alert.fields[0].initialValue = .text("nas")
        // Nor is one whose values nobody would see.
        #expect(self.content(alert, ["actions"]).actions.map(\.key) == ["1", "later"])
    }
}
