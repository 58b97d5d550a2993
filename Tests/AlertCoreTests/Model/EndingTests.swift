import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertCore

@Suite("Endings", .inParallel)
struct EndingTests {
    private static let time = Date(timeIntervalSince1970: 1_700_000_000)
    private static let yes = Alert.Button("Yes", id: "yes")
    private static let keep = Alert.Button.cancel("Keep")
    private static let ana = Caller(
        Account(uid: 1, name: "ana"), via: "terminal", tty: "/dev/pts/3",
        process: ProcessIdentity(host: "nas", pid: 1))
    private static let nameless = Caller(
        Account(uid: 7), via: "withdraw", process: ProcessIdentity(host: "nas", pid: 1))

    private static func response(
        _ outcome: Outcome, _ button: Alert.Button? = nil, index: Int? = nil, by: ResolvedBy,
        _ responder: Caller? = nil
    ) -> Response {
        Response(
            alertID: 42, outcome: outcome, buttonIndex: index ?? (button == nil ? -1 : 0),
            button: button, by: by, responder: responder, resolvedAt: time, collectedAt: nil,
            userInfo: [:])
    }

    private static let table: [(Response, String)] = [
        (
            response(.answered, yes, by: .person, ana),
            "answered “Yes” by ana (a person) via terminal on /dev/pts/3 at T"
        ),
        (
            response(.answered, Alert.Button("#1", id: "old"), index: 1, by: .person, ana),
            "answered “old” by ana (a person) via terminal on /dev/pts/3 at T"
        ),
        (
            response(.answered, index: 2, by: .program, nameless),
            "answered “#2” by uid 7 (a program) via withdraw at T"
        ),
        (
            response(.answered, Alert.Button("a\u{1B}[2J"), by: .policy),
            "answered “a␛[2J” by policy at T"
        ),
        (response(.expired, by: .system), "expired at T; nobody answered"),
        (
            response(.expired, keep, by: .policy),
            "expired at T; the default “Keep” was applied by policy"
        ),
        (
            response(.withdrawn, by: .asker, nameless),
            "withdrawn by uid 7 (its asker) via withdraw at T"
        ),
        (response(.dismissed, by: .system), "dismissed by itself at T"),
        (
            response(.dismissed, by: .person, ana),
            "dismissed by ana (a person) via terminal on /dev/pts/3 at T"
        ),
        (
            response(.cancelled, by: .system, ana),
            "cancelled by the system (ana via terminal on /dev/pts/3) at T"
        ),
        (
            response(.cancelled, keep, by: .program, nameless),
            "cancelled by uid 7 (a program) via withdraw at T; its cancel button is “Keep”"
        ),
    ]

    @Test("Each ending is one sentence", arguments: table)
    func sentences(response: Response, sentence: String) {
        let moment = " at " + Timestamp.text(Self.time)
        #expect(Ending(response).text(.utc) == sentence.replacing(" at T", with: moment))
        #expect(Ending(response).text(nil) == sentence.replacing(" at T", with: ""))
    }

    private func record(_ alert: Alert, _ response: Response, shown: Bool) -> AlertRecord {
        AlertRecord(
            id: 42, alert: alert,
            source: .init(
                name: "x", .account(Account(uid: 0)), .process(ProcessIdentity(host: "nas", pid: 1))
            ),
            state: .resolved, askedAt: Self.time, presentedAt: shown ? Self.time : nil,
            expiresAt: Self.time, snoozedUntil: nil, snoozes: 0, response: response)
    }

    @Test("An unseen expiry says so, and an expired notice mentions no missing answer")
    func unseen() {
        let question = Alert("?", buttons: [Self.yes, Self.keep])
        let plain = Self.response(.expired, by: .system)
        let applied = Self.response(.expired, Self.keep, by: .policy)
        let text = { (record: AlertRecord) in Ending(record)?.text(nil) }
        #expect(
            text(record(question, plain, shown: false)) == "expired; it had not been shown")
        #expect(text(record(question, plain, shown: true)) == "expired; nobody answered")
        #expect(
            text(record(question, applied, shown: false))
                == "expired; it had not been shown, and the default “Keep” was applied by policy")
        #expect(text(record(Alert("!"), plain, shown: true)) == "expired")
    }

    @Test("An error about an ending uses the same words")
    func errors() {
        let response = Self.response(.expired, by: .system)
        let ending = Ending(response).text(.brief(now: .now))
        #expect(
            "\(AlertError.alreadyResolved(response))" == "alert 42 has already ended: \(ending)")
        #expect(
            "\(AlertError.noChoice(response))" == "alert 42 ended without a choice: \(ending)")
    }

    @Test("Endings from the log match those from rows, and include how a cancel was handled")
    func entries() async throws {
        let store = InMemoryStore()
        var ids: [Alert.ID] = []
        for _ in 0..<4 { ids.append(try await store.ask(.yesNo()).id) }
        try await store.answer(ids[0], 0)
        _ = try await store.resolve(ids[1], .withdraw(), by: .ben)
        _ = try await store.resolve(ids[2], .cancel(handled: true), by: .ben)
        _ = try await store.resolve(ids[3], .cancel(handled: false), by: .ben)
        let entries = try await store.entries(from: 5, of: nil, limit: 9)
        var hostile = try #require(entries.first)
        hostile.button = "a\u{1B}[2J"
        #expect(Ending(hostile)?.text(nil).hasPrefix("answered “a␛[2J” by ana") == true)
        let texts = entries.compactMap { Ending($0)?.text(nil) }
        for (id, text) in zip(ids.prefix(2), texts) {
            #expect(Ending(try await store.record(id))?.text(nil) == text)
        }
        #expect(
            texts.suffix(2) == [
                "cancelled by the system (ben via answer); the delegate handled it",
                "cancelled by the system (ben via answer); its cancel button “No” was simulated",
            ])
        #expect(
            Ending(try #require(try await store.entries(limit: 1).first)) == nil)
        await store.close()
    }
}
