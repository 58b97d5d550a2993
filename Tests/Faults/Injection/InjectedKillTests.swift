import Foundation
import Glibc
import ProcessTesting
import Synchronization
import TestSupport
import Testing

/// SIGKILL at every call that changes the disk, and again while the next process recovers.
@Suite("Kill at every call", .inParallel(places: 2), .enabled(if: Tool.hasTracer, "needs strace"))
struct InjectedKillTests {
    static let operations =
        FaultForm.isFull
        ? Operation.allCases : Operation.essential + [Operation.purge, .restore]
    private let start: OperationStart

    init() async throws { start = try await OperationStart(withCheckpoint: FaultForm.isFull) }

    @Test("A kill at any call of an operation, and of its recovery, leaves the queue clean")
    func kills() async throws {
        var random = TestRandom()
        for operation in Self.operations {
            let progress = KillProgress()
            let calls = try await fewestCalls(of: operation)
            let points = calls.points
            // The short form tests the recoveries from one point, the full form every different
            // one. An empty file differs from a missing one only by the first call.
            let isFull = FaultForm.isFull && operation != .firstInEmptyFile
            let sample = Int.random(in: 1...points.count, using: &random)
            let lanes = operation.isWaiting ? 5 : 2
            try await each(of: points.enumerated().map { ($0 + 1, $1) }, lanes: lanes) {
                number, point in
                try await kill(
                    operation, at: point, from: start.queue(operation),
                    told: start.ledger(operation)
                ) {
                    state, ledger in
                    progress.noteKill()
                    // The short form leaves out the recoveries of backups and restores.
                    guard isFull || (number == sample && !operation.takesBackup),
                        let points = try await recovery(of: operation, from: state, progress)
                    else { return }
                    try await each(of: points, lanes: operation.isWaiting ? 2 : 1) { point in
                        try await kill(operation, at: point, from: state, told: ledger) { _, _ in
                            progress.noteRecoveryKill()
                        }
                    }
                }
            }
            let (kills, recoveries, recoveryKills) = progress.all
            FaultForm.report(
                "\(operation): \(kills) kills, \(recoveryKills) in \(recoveries) recoveries")
            // A process that shows an alert writes the slot from any thread, and several threads
            // write a draft, so that counts differ.
            let isSteady = operation != .present && !operation.takesBackup
            let least = isSteady ? calls.reachable : points.count
            #expect(kills >= least, "some calls were not hit: \(calls.story)")
            #expect(recoveryKills > recoveries || (operation.takesBackup && !FaultForm.isFull))
        }
    }

    /// The calls of an operation that does nothing else: a slow run may also store the expiry of
    /// the overdue alert before it ends.
    private func fewestCalls(of operation: Operation) async throws -> FaultPoint.Calls {
        var fewest = try await calls(of: operation, from: start.queue(operation))
        for _ in 1..<3 {
            let other = try await calls(of: operation, from: start.queue(operation))
            if other.reachable < fewest.reachable { fewest = other }
        }
        return fewest
    }

    private func calls(
        of operation: Operation, from state: CommandLineQueue
    ) async throws -> FaultPoint.Calls {
        let queue = try CommandLineQueue(copyOf: state.directory)
        let calls = try await FaultPoint.calls(FaultPoint.changes, in: queue) { wrapper in
            let finished = try await operation.run(on: queue, under: wrapper)
            #expect(operation.accepted.contains(finished.code ?? -1), "\(finished.errors)")
        }
        #expect(!calls.points.isEmpty || operation == .notify)
        return calls
    }

    /// The calls of running the operation again; `nil` if an earlier recovery made the same calls.
    private func recovery(
        of operation: Operation, from state: CommandLineQueue, _ progress: KillProgress
    ) async throws -> [FaultPoint]? {
        let calls = try await calls(of: operation, from: state)
        return progress.isNew(calls.story) ? calls.points : nil
    }

    /// Kills an operation at the first call of a kind, then at the second, until it ends by itself.
    private func kill(
        _ operation: Operation, at point: FaultPoint, from state: CommandLineQueue,
        told: Ledger, _ killed: (CommandLineQueue, Ledger) async throws -> Void
    ) async throws {
        for number in 1...1000 {
            let queue = try CommandLineQueue(copyOf: state.directory)
            let fault = "\(operation), \(point.call) \(number) of \(point.name ?? "any file")"
            let log = queue.directory + ".strace"
            defer { unlink(log) }
            let finished = try await operation.run(
                on: queue, under: point.wrapper(.kill, at: number, in: queue, log: log))
            let ledger = Ledger(told.all)
            ledger.note(lines: finished.output)
            if finished.code == 128 + SIGKILL {
                let left = try CommandLineQueue(copyOf: queue.directory)
                try await killed(left, ledger)
                let found = try CommandLineQueue(copyOf: queue.directory)
                #expect(try await operation.faults(leftIn: found) == [], "\(fault)")
            }
            let again = try await operation.run(on: queue)
            ledger.note(lines: again.output)
            #expect(operation.accepted.contains(again.code ?? -1), "\(fault): \(again.errors)")
            #expect(try await queue.rows(operation.effect) == ["1"], "\(fault)")
            #expect(try await queue.faults(against: ledger) == [], "\(fault)")
            #expect(try await operation.leftover(in: queue, again) == [], "\(fault)")
            guard finished.code == 128 + SIGKILL else {
                #expect(operation.accepted.contains(finished.code ?? -1), "\(finished.errors)")
                return
            }
        }
        Issue.record("\(operation) never ended by itself at \(point)")
    }
}

/// The progress of the kills of one operation.
private final class KillProgress: Sendable {
    private struct State {
        var kills = 0
        var recoveryKills = 0
        var recoveries: Set<[String]> = []
    }

    private let state = Mutex(State())

    func noteKill() { state.withLock { $0.kills += 1 } }
    func noteRecoveryKill() { state.withLock { $0.recoveryKills += 1 } }
    func isNew(_ story: [String]) -> Bool {
        state.withLock { $0.recoveries.insert(story).inserted }
    }

    var all: (kills: Int, recoveries: Int, recoveryKills: Int) {
        state.withLock { ($0.kills, $0.recoveries.count, $0.recoveryKills) }
    }
}

/// Runs a closure for each element, several at a time, because much of the time is spent waiting.
func each<Element: Sendable>(
    of elements: [Element], lanes: Int, _ body: @escaping @Sendable (Element) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, element) in elements.enumerated() {
            if index >= lanes { try await group.next() }
            group.addTask { try await body(element) }
        }
        try await group.waitForAll()
    }
}
