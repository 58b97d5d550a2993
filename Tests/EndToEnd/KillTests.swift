import Foundation
import Glibc
import Synchronization
import Testing

/// What processes were told, written down outside of the database.
private final class Ledger: Sendable {
    struct Entries {
        /// Ids that an asker printed.
        var asked: Set<Int> = []
        /// Buttons whose storing an answering process confirmed by its exit code.
        var answered: [Int: String] = [:]
        var kills = 0
    }

    private let entries = Mutex(Entries())

    var all: Entries { entries.withLock { $0 } }
    func note(_ change: (inout sending Entries) -> Void) { entries.withLock { change(&$0) } }
}

@Suite("Kill")
struct KillTests {
    static let kills = 200
    let queue: CommandLineQueue
    private let ledger = Ledger()

    init() throws { queue = try CommandLineQueue() }

    private var goesOn: Bool { ledger.all.kills < Self.kills }

    @Test("200 random SIGKILLs of askers, presenter and answerers lose nothing acknowledged")
    func kills() async throws {
        await withThrowingTaskGroup { group in
            for number in 0..<2 { group.addTask { try await ask(number) } }
            for _ in 0..<2 { group.addTask { try await answer() } }
            group.addTask { try await present() }
        }
        try await expectNothingLost()
    }

    /// Lets a process run for a random time at most; returns its exit code if it ended by itself.
    private func runBriefly(_ child: Child, milliseconds: ClosedRange<Int>) async -> Int32? {
        let limit = ContinuousClock.now + .milliseconds(Int.random(in: milliseconds))
        while ContinuousClock.now < limit {
            if let code = child.poll() { return code }
            try? await Task.sleep(for: .milliseconds(1))
        }
        child.kill(SIGKILL)
        let code = await child.exit()
        // It may have ended by itself at the last moment.
        if code == 128 + SIGKILL { ledger.note { $0.kills += 1 } }
        return code
    }

    private func ask(_ number: Int) async throws {
        var count = 0
        while goesOn {
            count += 1
            let child = try queue.start([
                "ask", "Question \(number).\(count)", "-b", "yes", "--cancel", "no", "--detach",
                "--key", "\(number).\(count)",
            ])
            _ = await runBriefly(child, milliseconds: 5...80)
            let output = await child.output.complete()
            // Only a whole line is an acknowledgement.
            if output.hasSuffix("\n"), let id = Int(output.dropLast()) {
                ledger.note { $0.asked.insert(id) }
            }
        }
    }

    private func answer() async throws {
        while goesOn {
            guard let waiting = try await queue.objects("list").randomElement(),
                let id = waiting["id"] as? Int
            else { continue }
            let button = ["yes", "no"].randomElement() ?? "yes"
            let child = try queue.start(["answer", "\(id)", button])
            if await runBriefly(child, milliseconds: 5...80) == 0 {
                ledger.note { $0.answered[id] = button }
            }
        }
    }

    private func present() async throws {
        while goesOn {
            let terminal = try PseudoTerminal()
            let child = try queue.start(["present"], on: terminal)
            let limit = ContinuousClock.now + .milliseconds(Int.random(in: 100...1500))
            while ContinuousClock.now < limit, child.poll() == nil {
                try terminal.type(["y", "n"].randomElement() ?? "y")
                try? await Task.sleep(for: .milliseconds(20))
            }
            child.kill(SIGKILL)
            if await child.exit() == 128 + SIGKILL { ledger.note { $0.kills += 1 } }
            note(confirmed: terminal.screen)
        }
    }

    /// What the presenter told the person to be done.
    private func note(confirmed screen: String) {
        for match in screen.matches(of: /✓ Question ([0-9]+\.[0-9]+) — (yes|no)/) {
            let (key, button) = (String(match.1), String(match.2))
            guard let id = try? idOf(key) else { continue }
            ledger.note { $0.answered[id] = button }
        }
    }

    private func idOf(_ key: String) throws -> Int? {
        let child = try Child(
            "sqlite3", [queue.path, "SELECT id FROM alerts WHERE key = '\(key)'"])
        _ = child.wait()
        return Int(child.output.text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func expectNothingLost() async throws {
        let told = ledger.all
        #expect(told.kills >= Self.kills)
        #expect(!told.asked.isEmpty)
        #expect(!told.answered.isEmpty)
        #expect(try await queue.isSound())
        let stored = try await rows("SELECT id FROM alerts").compactMap { Int($0) }
        #expect(told.asked.subtracting(stored).isEmpty, "asks were lost")
        let responses = try await rows("SELECT alert_id || ' ' || button FROM responses")
        let lost = told.answered.filter { !responses.contains("\($0.key) \($0.value)") }
        #expect(lost.isEmpty, "answers were lost: \(lost)")
        let twice = try await rows(
            "SELECT alert_id FROM responses GROUP BY alert_id HAVING count(*) > 1")
        #expect(twice.isEmpty)
    }

    private func rows(_ sql: String) async throws -> [String] {
        let child = try Child("sqlite3", [queue.path, sql])
        _ = await child.exit()
        return await child.output.complete().split(separator: "\n").map(String.init)
    }
}
