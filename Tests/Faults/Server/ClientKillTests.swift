import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import Synchronization
import TestSupport
import Testing

/// Processes of sixteen machines that use a queue on a server, killed at random times.
@Suite("Killed clients of a server", .inParallel(places: 2), .needsServer)
final class ClientKillTests: Sendable {
    private static let kills = FaultForm.count(short: 20, full: 1000)

    private struct Asked {
        let host: Int
        let id: Int
        let key: String
    }

    /// What processes were told besides what the ledger has.
    private struct Told {
        var asked: [Asked] = []
        var collected: Set<Int> = []
        /// The hashes of the entries that were printed, by their numbers.
        var entries: [Int: String] = [:]
        /// The errors of processes that were not killed.
        var errors: [String] = []
    }

    private let fleet: FleetQueue
    private let ledger = Ledger()
    private let told = Mutex(Told())

    init() async throws { fleet = try await FleetQueue(hosts: 16) }

    /// Whether to continue: a test without any answer would prove nothing.
    private var goesOn: Bool {
        let all = ledger.all
        let isTooEarly =
            all.answered.isEmpty
            || told.withLock { $0.collected.isEmpty || $0.entries.isEmpty }
        return all.kills < Self.kills || (isTooEarly && all.kills < 10 * Self.kills)
    }

    @Test("Killing askers, answerers, collectors, watches and screens loses nothing")
    func kills() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<3 { group.addTask { try await self.ask(number) } }
            for number in 3..<5 { group.addTask { try await self.answer(number) } }
            group.addTask { try await self.collect(5) }
            group.addTask { try await self.watch(6) }
            for number in 7..<9 { group.addTask { try await self.present(number) } }
            try await group.waitForAll()
        }
        let all = ledger.all
        let told = told.withLock { $0 }
        FaultForm.report(
            "Clients: \(all.kills) kills, \(all.asked.count) asked, \(all.answered.count) "
                + "answered, \(told.collected.count) collected, \(told.entries.count) entries told"
        )
        #expect(told.errors == [])
        #expect(try await fleet.faults(against: ledger, collected: told.collected) == [])
        let stored = Dictionary(
            uniqueKeysWithValues: try Connection(fleet.server.location).rows(
                "SELECT seq, encode(hash, 'hex') FROM audit"
            ) { (Int($0.integer(at: 0)), $0.optionalText(at: 1)) })
        #expect(told.entries.allSatisfy { stored[$0.key] == $0.value })
        try await expectScreenGoesOn()
    }

    /// What screens left behind that were killed doesn't keep another one from showing alerts.
    private func expectScreenGoesOn() async throws {
        let queue = fleet.hosts[1]
        let screen = try queue.start(try presenting(queue))
        let asker = try queue.start(["ask", "Last?", "-b", "yes", "--priority", "critical"])
        let finished = await asker.finish()
        #expect(finished.output == "yes\n", "\(finished)")
        screen.kill(SIGTERM)
        _ = await screen.exit()
    }

    /// Lets a process run for at most a random time, then kills it; returns its exit code, or
    /// `nil` if it was killed.
    private func runBriefly(
        _ child: Child, milliseconds: ClosedRange<Int>, _ random: inout TestRandom
    ) async -> Int32? {
        let (code, wasKilled) = await child.runBriefly(milliseconds: milliseconds, &random)
        if wasKilled { ledger.noteKill() }
        return wasKilled ? nil : code
    }

    private func randomHost(_ random: inout TestRandom) -> Int {
        fleet.hosts.indices.randomElement(using: &random) ?? 0
    }

    /// Asks with a key on two machines, each until it is acknowledged.
    private func ask(_ number: Int) async throws {
        var random = TestRandom(number)
        var count = 0
        while goesOn {
            count += 1
            let key = "\(number).\(count)"
            for host in fleet.hosts.indices.shuffled(using: &random).prefix(2) {
                var isTold = false
                while !isTold, goesOn {
                    isTold = try await ask(key, on: host, &random)
                }
            }
        }
    }

    private func ask(
        _ key: String, on host: Int, _ random: inout TestRandom
    ) async throws -> Bool {
        let title = "\(key) of \(host)"
        let child = try fleet.hosts[host].start([
            "ask", title, "-b", "yes", "--cancel", "no", "--detach", "--key", key,
        ])
        let code = await runBriefly(child, milliseconds: 20...700, &random)
        let output = await child.output.complete()
        // Only a whole line is an acknowledgement. A screen may have answered it already.
        if output == "yes\n" || output == "no\n" { return true }
        guard output.hasSuffix("\n"), let id = Int(output.dropLast()) else {
            if let code { note("ask: \(code) \(await child.errors.complete())") }
            return false
        }
        ledger.note(ask: id, title: title)
        told.withLock { $0.asked.append(Asked(host: host, id: id, key: key)) }
        return true
    }

    private func answer(_ number: Int) async throws {
        var random = TestRandom(number)
        while goesOn {
            let queue = fleet.hosts[randomHost(&random)]
            guard let waiting = try await queue.objects("list").randomElement(using: &random),
                let id = waiting["id"] as? Int
            else { continue }
            let button = ["yes", "no"].randomElement(using: &random) ?? "yes"
            let child = try queue.start(["answer", "\(id)", button])
            switch await runBriefly(child, milliseconds: 20...700, &random) {
            case 0: ledger.note(answer: button, to: id)
            case nil, 16: break
            case let code?: note("answer: \(code) \(await child.errors.complete())")
            }
        }
    }

    private func collect(_ number: Int) async throws {
        var random = TestRandom(number)
        while goesOn {
            guard let asked = told.withLock({ $0.asked.randomElement(using: &random) }) else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            let child = try fleet.hosts[asked.host].start(["collect", asked.key])
            switch await runBriefly(child, milliseconds: 50...800, &random) {
            case 0, 10:
                let button = String(await child.output.complete().dropLast())
                ledger.note(answer: button, to: asked.id)
                told.withLock { _ = $0.collected.insert(asked.id) }
            case nil, 15: break
            case let code?: note("collect: \(code) \(await child.errors.complete())")
            }
        }
    }

    private func watch(_ number: Int) async throws {
        var random = TestRandom(number)
        while goesOn {
            let queue = fleet.hosts[randomHost(&random)]
            let child = try queue.start(["watch", "--json", "--after", "0"])
            if let code = await runBriefly(child, milliseconds: 200...1000, &random) {
                note("watch: \(code) \(await child.errors.complete())")
            }
            let lines = await child.output.complete().split(
                separator: "\n", omittingEmptySubsequences: false)
            // Half a line at the end is none.
            for line in lines.dropLast() {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                guard let entry = object as? [String: any Sendable],
                    let sequence = entry["sequence"] as? Int,
                    let hash = entry["hash"] as? String
                else {
                    note("watch: \(line)")
                    continue
                }
                told.withLock { $0.entries[sequence] = hash }
            }
        }
    }

    private func present(_ number: Int) async throws {
        var random = TestRandom(number)
        while goesOn {
            let queue = fleet.hosts[randomHost(&random)]
            let child = try queue.start(try presenting(queue))
            if let code = await runBriefly(child, milliseconds: 100...2500, &random) {
                note("present: \(code) \(await child.errors.complete())")
            }
        }
    }

    /// A screen that chooses the first button soon.
    private func presenting(_ queue: CommandLineQueue) throws -> [String] {
        let program = try queue.script("chooser", "cat > /dev/null; sleep 0.1; echo yes")
        return ["present", "--on", "command:\(program)"]
    }

    private func note(_ error: String) { told.withLock { $0.errors.append(error) } }
}
