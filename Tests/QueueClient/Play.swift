import AlertQueue
import Foundation
import StoreChecks

/// A client that runs random operations, and records each before it begins and when it is done.
///
/// The seed determines the operations; their alerts depend on what other clients have done.
struct Play {
    private let manager: AlertManager
    private let client: Int
    private let hasDeadlines: Bool
    private let history: FileHandle
    private var random: SeededRandom
    private let operations: Int
    /// The newest alert that this client knows.
    private var newest: Int64 = 1
    /// Alerts of the last list, which are answered so that none waits forever.
    private var left: [Int64] = []

    init(_ request: Request, on manager: AlertManager) throws {
        self.manager = manager
        client = Int(try request.number("client"))
        operations = Int(try request.number("operations"))
        hasDeadlines = request.fields["deadlines"] as? Bool ?? false
        let path = try request.text("history")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Request.Mistake("can't write \(path)") }
        history = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let seed = UInt64(bitPattern: try request.number("seed"))
        random = SeededRandom(seed: seed &* 1000 &+ UInt64(client))
    }

    mutating func run() async throws {
        for number in 1...max(1, operations) {
            var played = next(number)
            played.invoked = Self.now()
            try write(played)
            played.told = await told(played)
            played.returned = Self.now()
            try write(played)
            note(played)
        }
    }

    private func write(_ played: Played) throws {
        var line = try JSONEncoder().encode(played)
        line.append(UInt8(ascii: "\n"))
        // Once written, the line is kept by the system even if this process is killed.
        try history.write(contentsOf: line)
    }

    private mutating func note(_ played: Played) {
        newest = max(newest, played.told.id ?? 0)
        guard played.verb == .list, let ids = played.told.ids else { return }
        left = Array(ids.map(abs).shuffled(using: &random).prefix(4))
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

// MARK: - Choosing operations

extension Play {
    private static let weights: [(Played.Verb, Int)] = [
        (.ask, 17), (.join, 6), (.conflict, 2), (.answer, 24), (.mistake, 2), (.withdraw, 4),
        (.cancel, 4), (.snooze, 6), (.collect, 10), (.record, 12), (.lookUp, 3), (.count, 4),
        (.list, 3), (.history, 2), (.head, 1),
    ]
    private static let total = weights.reduce(0) { $0 + $1.1 }

    private mutating func next(_ number: Int) -> Played {
        var played = Played(client: client, number: number, pid: getpid(), verb: verb(number))
        played.id = target()
        switch played.verb {
        case .ask:
            played.id = 0
            played.title = "\(client).\(number)"
            // Some questions have a key that no other question has.
            if Int.random(in: 0..<4, using: &random) == 0 { played.key = played.title }
            if hasDeadlines, Int.random(in: 0..<4, using: &random) == 0 {
                played.timeout = Int64.random(in: 1...200, using: &random)
            }
        case .join, .lookUp, .conflict:
            // All clients share these keys, which change over time.
            let group = number / 40 * 4 + Int.random(in: -2..<4, using: &random)
            played.id = 0
            played.key = "shared \(group)"
            played.title = "\(client).\(number)"
        case .answer:
            played.button = Bool.random(using: &random) ? "yes" : "no"
            if let id = left.popLast() { played.id = id }
        default: break
        }
        return played
    }

    private mutating func verb(_ number: Int) -> Played.Verb {
        if number.isMultiple(of: 20_000) { return .verify }
        var rest = Int.random(in: 0..<Self.total, using: &random)
        for (verb, weight) in Self.weights {
            rest -= weight
            if rest < 0 { return verb }
        }
        return .record
    }

    /// One of the newest alerts, or occasionally one that does not exist yet.
    private mutating func target() -> Int64 {
        max(1, newest + 1 - Int64.random(in: 0..<24, using: &random))
    }
}

// MARK: - Running operations

extension Play {
    private func told(_ played: Played) async -> Played.Told {
        do {
            return try await attempt(played)
        } catch {
            return Self.failure(error)
        }
    }

    private func attempt(_ played: Played) async throws -> Played.Told {
        switch played.verb {
        case .ask, .join, .conflict:
            // The same key with different content is refused.
            let message = played.verb == .conflict ? "other" : nil
            let title = played.verb == .ask ? played.title : played.key ?? ""
            let alert = Alert(
                title, message: message, buttons: ["yes", .cancel("no")],
                deadline: played.timeout.map { .after(.milliseconds($0)) },
                defaultButton: played.timeout.flatMap { $0.isMultiple(of: 2) ? "no" : nil },
                key: played.key, userInfo: [:])
            let asked = try await manager.submit(alert)
            var told = Self.record(asked.record)
            told.isJoined = asked.isJoined
            return told
        case .answer, .mistake:
            let button = played.verb == .mistake ? "maybe" : played.button
            return Self.record(try await manager.answer(played.id, button: button))
        case .withdraw: return Self.record(try await manager.withdraw(played.id))
        case .cancel: return Self.record(try await manager.cancel(played.id))
        case .snooze:
            return Self.record(try await manager.snooze(played.id, for: .milliseconds(5)))
        case .collect:
            try await manager.collect(played.id)
            return Played.Told(id: played.id)
        case .record: return Self.record(try await manager.record(played.id))
        case .lookUp: return Self.record(try await manager.record(key: played.key ?? ""))
        case .count: return Played.Told(count: Int64(try await manager.pendingCount()))
        case .list:
            return Played.Told(
                ids: try await manager.pending(limit: 1000)
                    .map { $0.snoozedUntil == nil ? $0.id : -$0.id })
        case .history:
            return Played.Told(ids: try await manager.history(limit: 20).map(\.id))
        case .head: return Played.Told(count: try await manager.auditHead()?.sequence ?? 0)
        case .verify:
            let report = try await manager.verifyAudit()
            return Played.Told(
                error: report.problems.first?.reason, count: report.entries)
        }
    }

    private static func record(_ record: AlertRecord) -> Played.Told {
        var told = Played.Told(
            id: record.id, state: record.state.rawValue, snoozes: record.snoozes)
        if let response = record.response { tell(response, &told) }
        return told
    }

    private static func tell(_ response: Response, _ told: inout Played.Told) {
        told.outcome = response.outcome.rawValue
        told.index = response.buttonIndex
        told.pid = response.responder?.process?.pid
        told.isCollected = response.collectedAt != nil
    }

    private static func failure(_ error: any Error) -> Played.Told {
        guard let error = error as? AlertError else { return Played.Told(error: "\(error)") }
        var told = Played.Told(error: Mirror(reflecting: error).children.first?.label ?? "closed")
        switch error {
        case .alreadyResolved(let response), .late(let response): tell(response, &told)
        case .keyConflict(_, let id, _): told.id = id
        case .storage, .damaged, .invalid: told.error = "\(error)"
        default: break
        }
        return told
    }
}
