import ProcessTesting
import TestSupport
import Testing

@testable import QueueClient

/// The control of the model check: it must find each lie that is put into a true history.
@Suite("Model check", .inParallel)
struct ModelCheckTests {
    enum Lie: String, CaseIterable {
        case lostAsk, lostAnswer, doubleWin, wrongWinner, staleRead, staleCount, staleHead
        case forgottenInList, unwantedInList, otherKey, twoCollected, writtenLater, earlyHistory
        case missing
    }

    @Test("A true history passes, and every kind of lie in it is found")
    func lies() async throws {
        var left = Lie.allCases
        // Not every history offers an opportunity for every lie.
        for round in 0..<8 where !left.isEmpty {
            let queue = try CommandLineQueue()
            let seed = ModelTests.seed + round
            let played = try await ModelRun(queue: queue, seed: seed, operations: 1600).played()
            let log = try await ModelLog.read(queue)
            #expect(Self.violations(log, played) == [])
            left = left.filter { lie in
                var told = played
                guard Self.tell(lie, in: &told) else { return true }
                #expect(Self.violations(log, told) != [], "\(lie) was not found")
                return false
            }
        }
        #expect(left.isEmpty, "no opportunity for \(left)")
    }

    private static func violations(_ log: ModelLog, _ played: [Played]) -> [String] {
        var check = ModelCheck(log, played)
        check.run()
        return Array(check.violations.prefix(5))
    }

    /// Changes the result of one operation; returns whether there was an opportunity.
    private static func tell(_ lie: Lie, in played: inout [Played]) -> Bool {
        switch lie {
        case .lostAsk:
            return change(
                &played, where: { $0.told.isJoined == false },
                to: { $0.told.id = 1_000_000 })
        case .lostAnswer:
            return change(
                &played, where: { $0.verb == .answer && $0.told.error == "notFound" },
                to: {
                    $0.told = won($0)
                })
        case .doubleWin:
            return change(
                &played, where: { $0.verb == .answer && $0.told.error == "alreadyResolved" },
                to: {
                    $0.told = won($0)
                })
        case .wrongWinner:
            return change(
                &played, where: { $0.told.error == "alreadyResolved" },
                to: { $0.told.pid = 1 })
        case .staleRead:
            let ends = ends(played)
            let isLater = { (one: Played) in
                one.verb == .record && one.told.outcome != nil
                    && ends[one.id] ?? .max < one.invoked
            }
            return change(
                &played, where: isLater,
                to: {
                    $0.told.outcome = nil
                    $0.told.state = "queued"
                })
        case .staleCount:
            return change(
                &played, where: { $0.verb == .count },
                to: { $0.told.count? += 40 })
        case .staleHead:
            return change(
                // Many entries are older than the call, even if it took long.
                &played, where: { $0.verb == .head && $0.told.count ?? 0 > 300 },
                to: { $0.told.count = 1 })
        default: return tellMore(lie, in: &played)
        }
    }

    private static func tellMore(_ lie: Lie, in played: inout [Played]) -> Bool {
        let isLong = { (one: Played) in one.verb == .list && one.told.ids?.count ?? 0 > 1 }
        switch lie {
        case .forgottenInList:
            let waits = certainlyWaits(played)
            return change(
                &played, where: { isLong($0) && waits($0.told.ids?[0] ?? 0, $0) },
                to: { $0.told.ids?.removeFirst() })
        case .unwantedInList:
            let ends = ends(played)
            return change(
                &played, where: isLong,
                to: { list in
                    let gone = ends.first {
                        $0.value < list.invoked && $0.key < list.told.ids?[0] ?? 0
                    }
                    list.told.ids?.insert(gone?.key ?? 0, at: 0)
                })
        case .otherKey:
            return change(
                &played, where: { $0.verb == .lookUp && $0.told.id != nil },
                to: {
                    $0.told.id? += 1
                })
        case .twoCollected:
            return change(
                &played, where: { $0.verb == .collect && $0.told.error == "notFound" },
                to: {
                    $0.told.error = nil
                })
        case .writtenLater:
            let last = played.compactMap(\.returned).max() ?? 0
            return change(
                &played, where: { $0.told.isJoined == false },
                to: {
                    $0.invoked = last + 1
                    $0.returned = last + 2
                })
        case .earlyHistory:
            return change(
                &played, where: { $0.verb == .history && $0.told.ids?.count ?? 0 > 1 },
                to: {
                    $0.told.ids?.swapAt(0, 1)
                })
        case .missing:
            let index = played.firstIndex { $0.verb == .answer && $0.told.error == nil }
            index.map { _ = played.remove(at: $0) }
            return index != nil
        default: return false
        }
    }

    private static func won(_ one: Played) -> Played.Told {
        Played.Told(
            id: one.id, state: "resolved", outcome: "answered", index: one.button == "yes" ? 0 : 1,
            pid: one.pid, isCollected: false, snoozes: 0)
    }

    /// Whether an alert waits for as long as an operation takes: it has no deadline, and nobody
    /// tries to end it before the operation has returned.
    private static func certainlyWaits(_ played: [Played]) -> (Int64, Played) -> Bool {
        let lasting = Set(
            played.filter { $0.told.isJoined == false && $0.timeout == nil }
                .compactMap(\.told.id))
        let enders: [Played.Verb] = [.answer, .withdraw, .cancel]
        let firstTries = Dictionary(
            played.filter { enders.contains($0.verb) }.map { ($0.id, $0.invoked) },
            uniquingKeysWith: min)
        return { id, one in
            lasting.contains(id) && firstTries[id] ?? .max > one.returned ?? .max
        }
    }

    /// When the operation that resolved an alert returned.
    private static func ends(_ played: [Played]) -> [Int64: Int64] {
        let enders: [Played.Verb] = [.answer, .withdraw, .cancel]
        let pairs = played.filter { enders.contains($0.verb) && $0.told.error == nil }
            .map { ($0.id, $0.returned ?? .max) }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func change(
        _ played: inout [Played], where isMeant: (Played) -> Bool,
        to body: (inout Played) -> Void
    ) -> Bool {
        // One in the middle of the run.
        let matches = played.indices.filter { isMeant(played[$0]) }
        guard !matches.isEmpty else { return false }
        body(&played[matches[matches.count / 2]])
        return true
    }
}
