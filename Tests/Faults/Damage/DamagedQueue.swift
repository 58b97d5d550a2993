import Foundation
import Glibc
import ProcessTesting
import TestSupport

/// One damaged copy of a queue, and the search for faults in what it returns.
struct DamagedQueue {
    let template: DamageTemplate
    let damage: Damage
    let queue: CommandLineQueue
    /// The alerts and answers that were acknowledged before and after the damage.
    private var titles: [Int: String]
    private var answered: [Int: String]
    /// False output; allowed only if a check then reports the damage.
    private var untruths: [String] = []
    /// Faults that are never allowed, even if the damage is reported.
    private(set) var faults: [String] = []

    init(_ template: DamageTemplate, _ damage: Damage) async throws {
        (self.template, self.damage) = (template, damage)
        (titles, answered) = (template.titles, template.answered)
        queue = try CommandLineQueue()
        try await DamageTemplate.copy(template.queue, to: queue)
    }

    /// Damages the queue, uses it, and returns whether the checks report the damage.
    mutating func run() async throws -> Bool {
        var client: QueueClient?
        if damage.isLive {
            let started = try await QueueClient(on: queue)
            _ = try await started.ask("list")
            client = started
        }
        try damage.apply(
            to: queue.path, foreign: template.foreign.directory, older: template.older.directory)
        if let client { await use(client) }
        try await use(["list", "--json"], ["show", "1", "--json"], ["history", "--json"])
        try await answer(6)
        try await ask("New question")
        try await use(["show", "6", "--json"])
        if let client { await end(client) }
        return try await check()
    }

    private mutating func use(_ client: QueueClient) async {
        do {
            let reply = try await client.ask("answer", ["id": 3, "button": "yes"], seconds: 20)
            if reply.error == nil {
                answered[3] = "yes"
                note(reply.fields)
            }
            let asked = try await client.ask("ask", ["title": "Live question"], seconds: 20)
            if asked.error == nil, let id = asked.id { noteAsk(id, "Live question") }
            for id in [2, 3] {
                let record = try await client.ask("record", ["id": id], seconds: 20)
                if record.error == nil { note(record.fields) }
            }
        } catch {
            faults.append("the process in use: \(error)")
        }
    }

    private mutating func end(_ client: QueueClient) async {
        do {
            let asked = try await client.ask("ask", ["title": "Last question"], seconds: 20)
            if asked.error == nil, let id = asked.id { noteAsk(id, "Last question") }
        } catch {
            faults.append("the process in use: \(error)")
        }
        if let code = await client.end(), code != 0 { faults.append("it exited with \(code)") }
    }

    private mutating func use(_ verbs: [String]...) async throws {
        for verb in verbs {
            let finished = try await run(verb)
            guard finished.code == 0 else { continue }
            for line in finished.output.split(separator: "\n") { note(Self.object(line)) }
        }
    }

    private mutating func answer(_ id: Int) async throws {
        let finished = try await run(["answer", "\(id)", "yes", "--json"])
        guard finished.code == 0 else { return }
        answered[id] = "yes"
        note(Self.object(finished.output[...]))
    }

    private mutating func ask(_ title: String) async throws {
        let words = ["ask", title, "-b", "yes", "--cancel", "no", "--detach"]
        let finished = try await run(words)
        if finished.code == 0, let id = Int(finished.output.dropLast()) { noteAsk(id, title) }
    }

    private mutating func noteAsk(_ id: Int, _ title: String) {
        if let known = titles[id] { untruths.append("id \(id) of “\(known)” was used again") }
        titles[id] = title
    }

    /// Compares an alert as it was shown with what is known about it.
    private mutating func note(_ fields: [String: any Sendable]) {
        guard let id = fields["id"] as? Int else { return }
        let (title, button) = (fields["title"] as? String, fields["button"] as? String)
        if title != titles[id] { untruths.append("\(id) shown as “\(title ?? "nothing")”") }
        if button != answered[id] { untruths.append("\(id) shown as \(button ?? "unanswered")") }
    }

    /// Runs a verb, which may fail only in an orderly way.
    private mutating func run(_ verb: [String]) async throws -> Finished {
        let finished = try await queue.start(verb).finish()
        let isRefusal = finished.isRefusal || ([16, 66].contains(finished.code))
        if finished.code != 0, !isRefusal || !finished.isReported {
            faults.append("\(verb): \(finished)")
        }
        return finished
    }

    /// Whether the checks find the damage; if they don't, everything acknowledged must be intact.
    private mutating func check() async throws -> Bool {
        let verify = try await run(["audit", "verify", "--head", template.head])
        let doctor = try await queue.start(["doctor"]).finish()
        if doctor.code != 0, ![65, 66, 74, 75, 77].contains(doctor.code) {
            faults.append("doctor: \(doctor)")
        }
        guard verify.code == 0, doctor.code == 0 else { return true }
        faults += untruths
        let ledger = Ledger()
        for (id, title) in titles { ledger.note(ask: id, title: title) }
        for (id, button) in answered { ledger.note(answer: button, to: id) }
        faults += try await queue.faults(against: ledger)
        return false
    }

    private static func object(_ line: Substring) -> [String: any Sendable] {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        return object as? [String: any Sendable] ?? [:]
    }
}
