import Foundation
import Glibc
import PostgreSQLTesting
import ProcessTesting
import Synchronization
import TestSupport
import Testing

@Suite("Kill", .inParallel)
struct KillTests {
    /// Where the queue is, and what is killed besides its clients.
    enum Place: CaseIterable {
        case file
        /// A file behind a service, which is killed every second or so.
        case service
        /// On a server, behind two services, one of which is killed every second or so.
        case twoServices

        /// The places that can be tried here.
        static var tried: [Place] {
            allCases.filter { $0 != .twoServices || PostgreSQLServer.isTried }
        }

        var kills: Int {
            self == .file
                ? FaultForm.count(short: 200, full: 1_000) : FaultForm.count(short: 60, full: 300)
        }
    }

    /// A queue as its clients see it, and as it is.
    private struct Served {
        let clients: CommandLineQueue
        let direct: CommandLineQueue
        /// The names of its services.
        var services: [String] = []
        let faults: @Sendable (Ledger) async throws -> [String]

        init(at place: Place) async throws {
            switch place {
            case .file, .service:
                let queue = try CommandLineQueue()
                direct = queue
                faults = { try await queue.faults(against: $0) }
            case .twoServices:
                let fleet = try await FleetQueue(hosts: 1)
                direct = fleet.hosts[0]
                faults = { try await fleet.faults(against: $0) }
            }
            guard place != .file else {
                clients = direct
                return
            }
            services = place == .service ? ["a"] : ["a", "b"]
            let directory = direct.directory
            let sockets = services.map { "\(directory)/\($0)/alertq.sock" }
            clients = try CommandLineQueue(at: "unix:" + sockets.joined(separator: ","))
        }
    }

    private let ledger = Ledger()
    private let patience = Patience()

    /// How long a process of each verb may run, which adapts: about half of them end by themselves, and
    /// the others are killed at a random moment of their life.
    private final class Patience: Sendable {
        private let limits = Mutex<[String: Double]>([:])

        /// In milliseconds.
        func longest(_ verb: String) -> Int {
            limits.withLock { Int($0[verb, default: 500]) }
        }

        func note(_ verb: String, wasKilled: Bool) {
            limits.withLock { limits in
                let next = limits[verb, default: 500] * (wasKilled ? 1.1 : 0.9)
                limits[verb] = min(max(next, 20), 5000)
            }
        }
    }

    /// Whether to continue: a test without any answer would prove nothing.
    private func goesOn(_ place: Place) -> Bool {
        let all = ledger.all
        let isTooEarly = all.asked.isEmpty || all.answered.isEmpty
        return all.kills < place.kills || (isTooEarly && all.kills < 10 * place.kills)
    }

    @Test(
        "Killing askers, presenters, answerers and services at random loses nothing acknowledged",
        arguments: Place.tried)
    func kills(place: Place) async throws {
        let queue = try await Served(at: place)
        try await withThrowingTaskGroup { group in
            for name in queue.services { group.addTask { try await serve(name, queue, place) } }
            for number in 0..<2 { group.addTask { try await ask(number, queue, place) } }
            for number in 2..<4 { group.addTask { try await answer(number, queue, place) } }
            group.addTask { try await present(queue, place) }
            try await group.waitForAll()
        }
        let all = ledger.all
        FaultForm.report(
            "\(place): \(all.kills) kills, \(all.asked.count) asked, \(all.answered.count) answered"
        )
        #expect(all.kills >= place.kills)
        #expect(!all.asked.isEmpty)
        #expect(!all.answered.isEmpty)
        let faults = try await queue.faults(ledger)
        #expect(faults == [])
    }

    /// Runs a service, kills it, and starts the next one.
    private func serve(_ name: String, _ queue: Served, _ place: Place) async throws {
        var random = TestRandom(name == "a" ? 5 : 6)
        while goesOn(place) {
            let service = try await CommandLineQueue.Service(of: queue.direct, in: name)
            let time = Int.random(in: 200...1500, using: &random)
            try await Task.sleep(for: .milliseconds(time))
            service.process.kill(SIGKILL)
            if await service.process.exit() == 128 + SIGKILL { ledger.noteKill() }
        }
    }

    /// Lets a process run for at most a random time, then kills it; returns its exit code.
    private func runBriefly(
        _ verb: String, _ child: Child, _ random: inout TestRandom
    ) async -> Int32? {
        let (code, wasKilled) = await child.runBriefly(
            milliseconds: 5...patience.longest(verb), &random)
        if wasKilled { ledger.noteKill() }
        patience.note(verb, wasKilled: wasKilled)
        return code
    }

    private func ask(_ number: Int, _ queue: Served, _ place: Place) async throws {
        var count = 0
        var random = TestRandom(number)
        while goesOn(place) {
            count += 1
            let title = "Question \(number).\(count)"
            let child = try queue.clients.start([
                "ask", title, "-b", "yes", "--cancel", "no", "--detach",
                "--key", "\(number).\(count)",
            ])
            _ = await runBriefly("ask", child, &random)
            let output = await child.output.complete()
            // Only a whole line is an acknowledgement.
            if output.hasSuffix("\n"), let id = Int(output.dropLast()) {
                ledger.note(ask: id, title: title)
            }
        }
    }

    private func answer(_ number: Int, _ queue: Served, _ place: Place) async throws {
        var random = TestRandom(number)
        while goesOn(place) {
            let list = try await queue.direct.objects("list")
            guard let waiting = list.randomElement(using: &random),
                let id = waiting["id"] as? Int
            else { continue }
            let button = ["yes", "no"].randomElement(using: &random) ?? "yes"
            let child = try queue.clients.start(["answer", "\(id)", button])
            if await runBriefly("answer", child, &random) == 0 {
                ledger.note(answer: button, to: id)
            }
        }
    }

    private func present(_ queue: Served, _ place: Place) async throws {
        var random = TestRandom(4)
        while goesOn(place) {
            let terminal = try PseudoTerminal()
            let child = try queue.clients.start(["present"], on: terminal)
            let limit =
                ContinuousClock.now + .milliseconds(Int.random(in: 100...2500, using: &random))
            while ContinuousClock.now < limit, child.poll() == nil {
                // After a shorter silence an alert takes no keys.
                try? await Task.sleep(for: .milliseconds(900))
                try terminal.type(["y", "n"].randomElement(using: &random) ?? "y")
            }
            child.kill(SIGKILL)
            if await child.exit() == 128 + SIGKILL { ledger.noteKill() }
            try await note(confirmed: terminal.text, in: queue)
        }
    }

    /// Records the answers that the presenter confirmed on the screen.
    private func note(confirmed screen: String, in queue: Served) async throws {
        for match in screen.matches(of: /✓ Question ([0-9]+\.[0-9]+) — (yes|no)/) {
            let alert = try await queue.direct.objects("show", "--key", String(match.1)).first
            guard let id = alert?["id"] as? Int else { continue }
            ledger.note(answer: String(match.2), to: id)
        }
    }
}
