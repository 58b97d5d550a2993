import AlertQueue
import AlertQueueTesting
import Foundation
import ProcessTesting
import TestSupport
import Testing

@Suite("Scripted presenter", .inParallel)
struct ScriptedPresenterTests {
    let presenter = ScriptedPresenter()
    let question = Alert("Go on?", buttons: ["Yes", .cancel("No")])

    private func presentation(
        of alert: Alert, id: Alert.ID = 7,
        withdraw: (@Sendable (String) async -> Void)? = nil
    ) -> Presentation {
        let record = AlertRecord(
            id: id, alert: alert,
            source: .init(
                name: "test", .account(Account(uid: 0)),
                .process(ProcessIdentity(host: "here", pid: 0))),
            state: .queued, askedAt: .now, presentedAt: nil, expiresAt: nil, snoozedUntil: nil,
            snoozes: 0, response: nil)
        return Presentation(
            record: record, waitingCount: 0, expiry: nil, clock: ManualClock(), appeared: {},
            dismissal: { nil }, withdraw: withdraw)
    }

    private func show(_ alert: Alert) async -> Task<PresenterChoice, any Error> {
        let showing = Task { try await presenter.present(presentation(of: alert)) }
        _ = await presenter.waitUntilShown()
        return showing
    }

    /// Expects an issue at a line of this file, with a text in its comment.
    private func expectIssue(
        _ text: String, line: Int, _ body: () async -> Void
    ) async {
        await withKnownIssue {
            await body()
        } matching: { issue in
            issue.sourceLocation?.line == line && issue.sourceLocation?.fileID == #fileID
                && issue.comments.contains { $0.rawValue.contains(text) }
        }
    }

    @Test("The presenter returns a choice that the alert allows")
    func possible() async throws {
        for choice in [PresenterChoice.button(1), .close, .later(nil), .later(.seconds(1))] {
            let showing = await show(question)
            #expect(presenter.choose(choice))
            #expect(try await showing.value == choice)
            #expect(!presenter.isShowing)
        }
    }

    static let refused: [(PresenterChoice, String)] = [
        (.button(2), "“Go on?” has no button 2: the last one is 1"),
        (.button(-1), "“Go on?” has no button -1"),
        (.button(0, Alert.Input(values: ["x": 1])), "the value of “x” is for no field"),
        (.button(0, Alert.Input(note: String(repeating: "n", count: 5000))), "the note has 5000"),
        (.later(.zero), "must be more than zero"),
        (.later(.seconds(-1)), "must be more than zero"),
        (.later(.seconds(Int64.max)), "longer than 100 years"),
    ]

    @Test(
        "An impossible choice fails the test at its line, and the presenter with it",
        arguments: refused)
    func impossible(choice: PresenterChoice, text: String) async throws {
        let first = await show(question)
        await expectIssue(text, line: #line + 1) {
            #expect(!presenter.choose(choice))
        }
        await #expect(throws: ImpossibleChoice.self) { try await first.value }
        let second = await show(question)
        await expectIssue(text, line: #line + 1) {
            #expect(!presenter.chooseIfShown(choice))
        }
        await #expect(throws: ImpossibleChoice.self) { try await second.value }
        #expect(!presenter.isShowing)
    }

    private static let form = Alert(
        "Copies?", buttons: ["Yes", .cancel("No")],
        fields: [Alert.Field("copies", .integer(1...3), isRequired: true)])

    @Test("An impossible choice ends the waits for the answer, in every manager and closure")
    func impossibleChoiceEndsWaits() async throws {
        let store = InMemoryStore()
        let screen = try await AlertManager(store, presenters: [presenter])
        screen.onError { _ in }
        let asker = try await AlertManager(store)
        let ended = Flag()
        try await asker.show(Self.form) { response in
            if response.outcome == .withdrawn { ended.set() }
        }
        _ = await presenter.waitUntilShown()
        await expectIssue("must be a whole number from 1 to 3", line: #line + 1) {
            presenter.choose(.button(0, Alert.Input(values: ["copies": 4])))
        }
        #expect(await eventually { ended.isSet })
        let asking = Task { try await asker.ask(Self.form) }
        #expect(await eventually { presenter.shown.count == 2 && presenter.isShowing })
        await expectIssue("the value of “copies” is missing", line: #line + 1) {
            presenter.choose(.button(0))
        }
        let response = try await asking.value
        #expect(response.outcome == .withdrawn && response.button == nil)
        #expect(try await asker.pending().isEmpty)
        await asker.close()
        await screen.close()
    }

    @Test("A script whose value doesn't fit has the alert withdrawn, with the reason")
    func impossibleValueOfScript() async throws {
        let line = #line + 1
        let presenter = ScriptedPresenter { _ in .button(0, Alert.Input(values: ["copies": "x"])) }
        let withdrawn = Flag()
        await expectIssue("the value of “copies” must be a whole number", line: line) {
            await #expect(throws: ImpossibleChoice.self) {
                try await presenter.present(
                    presentation(of: Self.form) { reason in
                        if reason.contains("“Copies?” can't be answered so") { withdrawn.set() }
                    })
            }
        }
        #expect(withdrawn.isSet)
    }

    @Test("A button of an alert without buttons is an impossible choice")
    func noButtons() async throws {
        let showing = await show(Alert("Done"))
        await expectIssue("it has none", line: #line + 1) {
            #expect(!presenter.choose(.button(0)))
        }
        await #expect(throws: ImpossibleChoice.self) { try await showing.value }
    }

    @Test("A choice for an empty screen fails the test, except with chooseIfShown")
    func emptyScreen() async {
        await expectIssue("Nothing is on the screen of “scripted”", line: #line + 1) {
            #expect(!presenter.choose(.button(0)))
        }
        #expect(!presenter.chooseIfShown(.button(0)))
    }

    @Test("A script's impossible choice fails the test at the line that created the presenter")
    func impossibleScript() async throws {
        let line = #line + 1
        let presenter = ScriptedPresenter { alert in .button(alert.buttonIndex(id: "Perhaps")) }
        await expectIssue("has no button -1", line: line) {
            await #expect(throws: ImpossibleChoice.self) {
                try await presenter.present(presentation(of: question))
            }
        }
        #expect(presenter.shown.count == 1 && !presenter.isShowing)
    }

    @Test("While a script decides, its alert is on the screen")
    func script() async throws {
        let clock = ManualClock()
        let presenter = ScriptedPresenter { _ in
            try await clock.sleep(for: .seconds(1))
            return .button(0)
        }
        let showing = Task { try await presenter.present(presentation(of: question)) }
        #expect(await presenter.waitUntilShown().id == 7)
        #expect(presenter.isShowing)
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(1))
        #expect(try await showing.value == .button(0))
        #expect(!presenter.isShowing)
    }

    @Test("If two managers share a presenter, each alert gets its own choice")
    func shared() async throws {
        let first = Task { try await presenter.present(presentation(of: question, id: 1)) }
        #expect(await eventually { presenter.shown.count == 1 })
        let second = Task { try await presenter.present(presentation(of: question, id: 2)) }
        #expect(await eventually { presenter.shown.count == 2 })
        presenter.choose(.button(0))
        #expect(try await second.value == .button(0))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!presenter.isShowing)
    }
}

// MARK: - Waiting

extension ScriptedPresenterTests {
    @Test("Cancelling its task ends a wait, before it begins and while it lasts")
    func cancelledWait() async throws {
        // Some of the late ones are cancelled before they begin, and some in the middle.
        for isEarly in [true] + [Bool](repeating: false, count: 50) {
            let plain = Task {
                if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                return await presenter.waitUntilShown()
            }
            let limited = Task {
                if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                return try await presenter.waitUntilShown(within: .seconds(3600))
            }
            plain.cancel()
            limited.cancel()
            #expect(await plain.value.id == 0)
            await #expect(throws: CancellationError.self) { try await limited.value }
        }
        // The cancelled waits have not taken the alert from others.
        async let record = presenter.waitUntilShown()
        let showing = await show(question)
        #expect(await record.id == 7)
        presenter.choose(.button(0))
        _ = try await showing.value
    }

    @Test("A wait with a limit ends with the alert, or when the time is up")
    func limitedWait() async throws {
        let error = await #expect(throws: NotShown.self) {
            try await presenter.waitUntilShown(within: .milliseconds(20))
        }
        #expect(error?.description.contains("“scripted” showed nothing within") == true)
        let showing = Task { try await presenter.present(presentation(of: question)) }
        #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == 7)
        presenter.choose(.button(0))
        _ = try await showing.value
    }
}
