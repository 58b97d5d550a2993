import Foundation
import Glibc
import ProcessTesting
import TestSupport

@testable import QueueClient

/// Eight clients, each in a process of its own, that run random operations on one queue at once.
struct ModelRun {
    /// An error of a client that could not run.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let clients = 8

    let queue: CommandLineQueue
    let seed: Int
    let operations: Int
    var hasDeadlines = false
    /// How often each client is killed and replaced.
    var kills = 0

    /// Runs the clients to their end, and returns their operations with the results.
    func played() async throws -> [Played] {
        try await withThrowingTaskGroup { group in
            for slot in 0..<Self.clients { group.addTask { try await play(slot) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func play(_ slot: Int) async throws -> [Played] {
        var played: [Played] = []
        var generation = 0
        let share = operations / Self.clients
        while played.count < share {
            let client = slot + Self.clients * generation
            let mayDie = generation < kills
            played += try await life(client, operations: share - played.count, mayDie)
            generation += 1
        }
        return played
    }

    /// One process, from its start to its end.
    private func life(
        _ client: Int, operations: Int, _ mayDie: Bool
    ) async throws -> [Played] {
        let process = try await QueueClient(on: queue, source: "model")
        let history = queue.directory + "/history-\(client)"
        var random = TestRandom(client)
        let lifetime = Int.random(in: 50...1500, using: &random)
        let killer = Task {
            try await Task.sleep(for: .milliseconds(lifetime))
            if mayDie { process.process.kill(SIGKILL) }
        }
        defer { killer.cancel() }
        let fields: [String: any Sendable] = [
            "client": client, "seed": seed, "operations": operations, "history": history,
            "deadlines": hasDeadlines,
        ]
        do {
            // A client that hangs is to be found before the limit of the whole run.
            let limit = FaultForm.count(short: 300, full: 3600)
            let reply = try await process.ask("play", fields, seconds: limit)
            if let error = reply.error { throw Failure(description: error) }
        } catch {
            guard mayDie, await process.process.exit() == 128 + SIGKILL else { throw error }
        }
        return Self.read(history)
    }

    /// The operations of a history: each is recorded before it begins, and again when it is done.
    static func read(_ path: String) -> [Played] {
        var played: [Played] = []
        // A client that was killed early may have left no history.
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        for line in data.split(separator: UInt8(ascii: "\n")) {
            // A client that was killed may have left half a line.
            guard let one = try? JSONDecoder().decode(Played.self, from: line) else { continue }
            if one.returned != nil, played.last?.number == one.number { played.removeLast() }
            played.append(one)
        }
        return played
    }
}
