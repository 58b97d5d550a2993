import Foundation
import Glibc
import ProcessTesting
import Synchronization
import TestSupport
import Testing

/// A disk that fails or is full, at every write, sync and open, once or from then on.
@Suite(
    "Disk errors at every call", .inParallel(places: 2),
    .enabled(if: Tool.hasTracer, "needs strace"))
struct DiskErrorTests {
    /// Without `present`, which has no end to wait for.
    static let operations =
        FaultForm.isFull
        ? Operation.allCases.filter { $0 != .present } : [.first, .expire] + Operation.essential
    private let start: OperationStart

    init() async throws { start = try await OperationStart(withCheckpoint: FaultForm.isFull) }

    /// One error at one kind of call.
    private struct Fault: Sendable {
        let point: FaultPoint
        let effect: FaultPoint.Effect
        let forEver: Bool
    }

    @Test("A failing or full disk leads to a clear error or no harm, and leaves the queue clean")
    func errors() async throws {
        for operation in Self.operations {
            let queue = try start.queue(operation)
            // A long write-ahead log is read like a short one, only more often. Where a file's name
            // can't be known beforehand, the reads of the dynamic linker would be hit as well.
            let readsLittle = operation != .checkpoint && !operation.takesBackup
            let reads = readsLittle ? ["pread64"] : []
            let kinds = FaultPoint.changes + ["openat"] + reads
            let calls = try await FaultPoint.calls(kinds, in: queue) { wrapper in
                let finished = try await operation.run(on: queue, under: wrapper)
                #expect(operation.accepted.contains(finished.code ?? -1), "\(finished.errors)")
            }
            let faults = calls.points.flatMap { point in
                [FaultPoint.Effect.inputOutput, .full].flatMap { effect in
                    [false, true].map { Fault(point: point, effect: effect, forEver: $0) }
                }
            }
            let tally = Tally()
            try await each(of: faults, lanes: 2) { try await inject($0, into: operation, tally) }
            FaultForm.report("\(operation), by exit code: \(tally.all)")
            #expect(tally.all.values.reduce(0, +) >= faults.count)
            #expect(tally.all[74, default: 0] > 0)
        }
    }

    /// Makes the first call of a kind fail, then the second, and so on, until all have failed.
    private func inject(_ fault: Fault, into operation: Operation, _ tally: Tally) async throws {
        var number = 1
        var random = TestRandom()
        while true {
            let queue = try start.queue(operation)
            let log = queue.directory + ".strace"
            defer { unlink(log) }
            let wrapper = fault.point.wrapper(
                fault.effect, at: number, forEver: fault.forEver, in: queue, log: log)
            let finished = try await operation.run(on: queue, under: wrapper)
            guard FaultPoint.wasHit(log: log) else { return }
            let fault =
                "\(operation), \(fault.effect) at \(fault.point.call) \(number)"
                + "\(fault.forEver ? " and on" : "") of \(fault.point.name ?? "any file")"
            tally.note(finished.code)
            expectClear(finished, operation, fault)
            let ledger = start.ledger(operation)
            if finished.code == 0 { ledger.note(lines: finished.output) }
            let again = try await operation.run(on: queue)
            ledger.note(lines: again.output)
            #expect(operation.accepted.contains(again.code ?? -1), "\(fault): \(again.errors)")
            let effect = try await queue.rows(operation.effect)
            #expect(effect == ["1"], "\(fault): \(effect), after \(again)")
            #expect(try await queue.faults(against: ledger) == [], "\(fault)")
            #expect(try await operation.leftover(in: queue, again) == [], "\(fault)")
            // The short form skips some calls, different ones in each run.
            number += FaultForm.isFull ? 1 : Int.random(in: 1...8, using: &random)
        }
    }

    /// Runs a command with an injected error, and makes sure that it was hit.
    private func run(
        _ words: [String], on queue: CommandLineQueue, _ call: String, of file: String,
        _ effect: FaultPoint.Effect, at number: Int = 1, forEver: Bool = false
    ) async throws -> (finished: Finished, wasHit: Bool) {
        let log = queue.directory + ".strace"
        defer { unlink(log) }
        let wrapper = FaultPoint(call: call, name: file).wrapper(
            effect, at: number, forEver: forEver, in: queue, log: log)
        let finished = try await queue.start(words, under: wrapper).finish()
        return (finished, FaultPoint.wasHit(log: log))
    }

    @Test("Over a disk quota an answer takes what is set aside for it, and others are refused")
    func quota() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("ask", "One", "--detach").code == 0)
        let reserve = {
            let path = queue.path + "-reserve"
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        }
        let full = try reserve()
        let once = try await run(
            ["snooze", "1"], on: queue, "pwrite64", of: "queue.db-wal", .overQuota)
        #expect(once.wasHit && once.finished.code == 74, "\(once)")
        #expect(once.finished.errors.contains("disk is full"), "\(once)")
        #expect(try reserve() == full)
        let answer = try await run(
            ["answer", "1", "ok"], on: queue, "pwrite64", of: "queue.db-wal", .overQuota,
            forEver: true)
        #expect(answer.wasHit && answer.finished.code == 74, "\(answer)")
        #expect(answer.finished.errors.contains("disk is full"), "\(answer)")
        #expect(try reserve() == 0)
        #expect(try await queue.run("answer", "1", "ok").code == 0)
        let ask = try await run(
            ["ask", "Two", "--detach"], on: queue, "fallocate", of: "queue.db-reserve", .overQuota)
        #expect(ask.wasHit && ask.finished.code == 74, "\(ask)")
        #expect(ask.finished.errors.contains("disk is full"), "\(ask)")
        #expect(try await queue.isSound())
    }

    @Test("A signal while space is set aside refuses nothing")
    func interrupted() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("ask", "One", "--detach").code == 0)
        unlink(queue.path + "-reserve")
        let ask = try await run(
            ["ask", "Two", "--detach"], on: queue, "fallocate", of: "queue.db-reserve",
            .interrupted)
        #expect(ask.wasHit && ask.finished.code == 0, "\(ask)")
    }

    @Test("A queue that can't be looked at for a moment is not taken for none")
    func unseen() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("ask", "One", "--detach").code == 0)
        let backup = queue.directory + ".backup"
        defer { unlink(backup) }
        #expect(try await queue.run("backup", backup).code == 0)
        #expect(try await queue.run("ask", "Two", "--detach").code == 0)
        var (number, isHit) = (1, true)
        while isHit {
            let restore = try await run(
                ["restore", backup], on: queue, "statx", of: "queue.db", .inputOutput, at: number)
            isHit = restore.wasHit
            // It says that it can't look, or what would be lost.
            #expect([74, 77].contains(restore.finished.code), "\(number): \(restore)")
            #expect(try await queue.rows("SELECT count(*) FROM alerts") == ["2"], "\(number)")
            number += 1
        }
        #expect(number > 5)
        #expect(try await queue.isSound())
    }

    /// Expects success, or a message with the exit code of a failing disk.
    private func expectClear(_ finished: Finished, _ operation: Operation, _ fault: String) {
        // It did not exit within a minute: it hangs.
        guard let code = finished.code else {
            Issue.record("\(fault): it hangs")
            return
        }
        guard !operation.accepted.contains(code) else { return }
        #expect([74, 75].contains(code), "\(fault): exit \(code), \(finished.errors)")
        #expect(
            // Another line may say that what was on the screen could not be recorded.
            finished.errors.split(separator: "\n").contains { line in
                line.hasPrefix("alertq: \(operation.arguments[0]): ")
                    || line.contains(
                        "\"verb\":\"\(operation.arguments[0])\",\"exit_code\":\(code)}")
            },
            "\(fault): \(finished.errors)")
        #expect(finished.output.isEmpty, "\(fault): \(finished.output)")
    }
}

/// How often each exit code was seen.
private final class Tally: Sendable {
    private let counts = Mutex<[Int32: Int]>([:])

    func note(_ code: Int32?) { counts.withLock { $0[code ?? -1, default: 0] += 1 } }
    var all: [Int32: Int] { counts.withLock { $0 } }
}
