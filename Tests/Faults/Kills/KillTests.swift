import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Kill", .inParallel)
struct KillTests {
    static let kills = FaultForm.count(short: 200, full: 1_000)
    let queue: CommandLineQueue
    private let ledger = Ledger()

    init() throws { queue = try CommandLineQueue() }

    /// Whether to continue: a test without any answer would prove nothing.
    private var goesOn: Bool {
        let all = ledger.all
        let isTooEarly = all.asked.isEmpty || all.answered.isEmpty
        return all.kills < Self.kills || (isTooEarly && all.kills < 10 * Self.kills)
    }

    @Test("Killing askers, presenters and answerers at random loses nothing acknowledged")
    func kills() async throws {
        await withThrowingTaskGroup { group in
            for number in 0..<2 { group.addTask { try await ask(number) } }
            for number in 2..<4 { group.addTask { try await answer(number) } }
            group.addTask { try await present() }
        }
        try await expectNothingLost()
    }

    /// Lets a process run for at most a random time, then kills it; returns its exit code.
    private func runBriefly(
        _ child: Child, milliseconds: ClosedRange<Int>, _ random: inout TestRandom
    ) async -> Int32? {
        let (code, wasKilled) = await child.runBriefly(milliseconds: milliseconds, &random)
        if wasKilled { ledger.noteKill() }
        return code
    }

    private func ask(_ number: Int) async throws {
        var count = 0
        var random = TestRandom(number)
        while goesOn {
            count += 1
            let title = "Question \(number).\(count)"
            let child = try queue.start([
                "ask", title, "-b", "yes", "--cancel", "no", "--detach",
                "--key", "\(number).\(count)",
            ])
            // On a busy machine nothing might ever be asked in 80 ms.
            let longest = ledger.all.asked.isEmpty ? 2000 : 80
            _ = await runBriefly(child, milliseconds: 5...longest, &random)
            let output = await child.output.complete()
            // Only a whole line is an acknowledgement.
            if output.hasSuffix("\n"), let id = Int(output.dropLast()) {
                ledger.note(ask: id, title: title)
            }
        }
    }

    private func answer(_ number: Int) async throws {
        var random = TestRandom(number)
        while goesOn {
            guard let waiting = try await queue.objects("list").randomElement(using: &random),
                let id = waiting["id"] as? Int
            else { continue }
            let button = ["yes", "no"].randomElement(using: &random) ?? "yes"
            let child = try queue.start(["answer", "\(id)", button])
            // On a busy machine nothing might ever be answered in 80 ms.
            let longest = ledger.all.answered.isEmpty ? 2000 : 80
            if await runBriefly(child, milliseconds: 5...longest, &random) == 0 {
                ledger.note(answer: button, to: id)
            }
        }
    }

    private func present() async throws {
        var random = TestRandom(4)
        while goesOn {
            let terminal = try PseudoTerminal()
            let child = try queue.start(["present"], on: terminal)
            let limit =
                ContinuousClock.now + .milliseconds(Int.random(in: 100...2500, using: &random))
            while ContinuousClock.now < limit, child.poll() == nil {
                // After a shorter silence an alert takes no keys.
                try? await Task.sleep(for: .milliseconds(900))
                try terminal.type(["y", "n"].randomElement(using: &random) ?? "y")
            }
            child.kill(SIGKILL)
            if await child.exit() == 128 + SIGKILL { ledger.noteKill() }
            try await note(confirmed: terminal.text)
        }
    }

    /// Records the answers that the presenter confirmed on the screen.
    private func note(confirmed screen: String) async throws {
        for match in screen.matches(of: /✓ Question ([0-9]+\.[0-9]+) — (yes|no)/) {
            let (key, button) = (String(match.1), String(match.2))
            guard let id = try await idOf(key) else { continue }
            ledger.note(answer: button, to: id)
        }
    }

    private func idOf(_ key: String) async throws -> Int? {
        try await queue.rows("SELECT id FROM alerts WHERE key = '\(key)'").first.flatMap { Int($0) }
    }

    private func expectNothingLost() async throws {
        #expect(ledger.all.kills >= Self.kills)
        #expect(!ledger.all.asked.isEmpty)
        #expect(!ledger.all.answered.isEmpty)
        #expect(try await queue.faults(against: ledger) == [])
    }
}
