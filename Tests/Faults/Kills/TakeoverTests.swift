import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The leading screen dies, and the next one dies while it takes the lead.
@Suite("Kill in a takeover", .inParallel)
struct TakeoverTests {
    static let rounds = FaultForm.count(short: 4, full: 100)
    private let queue: CommandLineQueue
    private let ledger = Ledger()

    init() throws { queue = try CommandLineQueue() }

    private struct Presenter {
        let terminal: PseudoTerminal
        let process: Child
    }

    @Test("When the leader is killed and its successor in the takeover, a third one goes on")
    func kills() async throws {
        var random = TestRandom()
        for round in 1...Self.rounds {
            let title = "Question \(round)"
            let asked = try await queue.start([
                "ask", title, "-b", "yes", "--cancel", "no", "--detach", "--json",
            ]).finish()
            ledger.note(lines: asked.output)
            let id = try #require(ledger.all.asked.first { $0.value == title }?.key)
            let leader = try start()
            #expect(await leader.terminal.shows(title), "round \(round)")
            var presenters = try (1...2).map { _ in try start() }
            for presenter in presenters {
                #expect(await presenter.terminal.shows(title), "round \(round)")
            }
            await kill(leader)
            // The successor needs a few milliseconds; some die before, some in it, some after it.
            usleep(.random(in: 0...12_000, using: &random))
            await kill(presenters.remove(at: .random(in: 0...1, using: &random)))
            let last = try #require(presenters.first)
            let isAnswered = try await last.terminal.press("y") {
                last.terminal.text.contains("✓ \(title) — yes")
            }
            #expect(isAnswered, "round \(round): \(last.terminal.text)")
            ledger.note(answer: "yes", to: id)
            await kill(last)
        }
        #expect(ledger.all.kills == 3 * Self.rounds)
        #expect(try await queue.faults(against: ledger) == [])
    }

    private func start() throws -> Presenter {
        let terminal = try PseudoTerminal()
        return Presenter(terminal: terminal, process: try queue.start(["present"], on: terminal))
    }

    private func kill(_ presenter: Presenter) async {
        presenter.process.kill(SIGKILL)
        if await presenter.process.exit() == 128 + SIGKILL { ledger.noteKill() }
    }
}
