import Foundation
import Glibc
import ProcessTesting
import TestSupport

/// The queues from which each case of damage starts, and what is known about the first one.
struct DamageTemplate {
    let queue: CommandLineQueue
    let foreign: CommandLineQueue
    let older: CommandLineQueue
    /// The acknowledged alerts and answers.
    let ledger: Ledger
    /// The head of the log, as a user would save it elsewhere.
    let head: String
    let titles: [Int: String]
    let answered: [Int: String]

    init() async throws {
        (queue, foreign, older) = try (CommandLineQueue(), CommandLineQueue(), CommandLineQueue())
        let ledger = Ledger()
        try await Self.fill(foreign, "Foreign", 12, Ledger())
        try await Self.fill(queue, "Question", 8, ledger)
        // Half is in the database, half will be in its write-ahead log.
        _ = try await queue.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        try await Self.copy(queue, to: older)
        try await Self.fill(queue, "Question", 16, ledger)
        self.ledger = ledger
        titles = ledger.all.asked
        answered = ledger.all.answered
        head = try await queue.run("audit", "head").output.trimmingCharacters(in: .newlines)
    }

    /// Asks alerts up to a number, and answers all but every third.
    private static func fill(
        _ queue: CommandLineQueue, _ name: String, _ last: Int, _ ledger: Ledger
    ) async throws {
        let client = try await QueueClient(on: queue)
        let first = try await client.ask("history").fields["alerts"] as? [any Sendable] ?? []
        let start = first.isEmpty ? 1 : 9
        for number in start...last {
            let title = "\(name) \(number)"
            let asked = try await client.ask(
                "ask", ["title": title, "message": String(repeating: title, count: 40)])
            ledger.note(ask: asked.id ?? -1, title: title)
            guard number % 3 != 0, let id = asked.id else { continue }
            let button = number % 2 == 0 ? "yes" : "no"
            guard try await client.ask("answer", ["id": id, "button": button]).error == nil
            else { continue }
            ledger.note(answer: button, to: id)
        }
        // When it is killed, its write-ahead log stays.
        client.process.kill(SIGKILL)
    }

    static func copy(_ queue: CommandLineQueue, to other: CommandLineQueue) async throws {
        let child = try Child("cp", ["-a", queue.directory + "/.", other.directory])
        _ = await child.exit()
    }
}
