import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Programs that use the library, killed while many of their tasks share transactions.
@Suite("Kill of programs that use the library", .inParallel)
struct LibraryKillTests {
    static let rounds = FaultForm.count(short: 6, full: 100)
    /// After this many rounds a new queue is used, so that checking one stays quick.
    static let roundsPerQueue = 10

    @Test("Killing three programs with 16 tasks each loses nothing acknowledged")
    func kills() async throws {
        var asked = 0
        var answered = 0
        for first in stride(from: 0, to: Self.rounds, by: Self.roundsPerQueue) {
            let queue = try CommandLineQueue()
            let journal = queue.directory + ".acknowledged"
            defer { unlink(journal) }
            let ledger = Ledger()
            for round in first..<min(first + Self.roundsPerQueue, Self.rounds) {
                await withTaskGroup { group in
                    for number in 0..<3 {
                        group.addTask {
                            await Self.killed(
                                on: queue.path, journal: journal, number: 3 * round + number)
                        }
                    }
                }
            }
            let text = try String(contentsOfFile: journal, encoding: .utf8)
            Self.note(text, in: ledger)
            #expect(try await queue.faults(against: ledger) == [])
            asked += ledger.all.asked.count
            answered += ledger.all.answered.count
        }
        FaultForm.report(
            "\(3 * Self.rounds) kills, \(asked) asks and \(answered) answers acknowledged")
        #expect(asked > Self.rounds)
        #expect(answered > Self.rounds)
    }

    @Test("A question whose closures ended with their process is taken back as an orphan")
    func closures() async throws {
        let queue = try CommandLineQueue()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = queue.path as String] in
            let manager = try await AlertManager(path: path)
            try await manager.show(
                Alert("Prune?", buttons: [Alert.Button("Yes") {}, .cancel("No")]))
            try await manager.show(Alert("Named?", buttons: ["Yes"], handler: "named"))
            kill(getpid(), SIGKILL)
            await manager.close()
        }
        // Not before its asker has been gone for a moment.
        var taken: [String] = []
        let isTaken = try await eventually {
            taken += try await queue.run("withdraw", "--orphaned", "--json").output
                .split(separator: "\n").map(String.init)
            return !taken.isEmpty
        }
        #expect(isTaken && taken.count == 1 && taken[0].contains("Prune?"), "\(taken)")
        #expect(try await queue.isSound())
    }

    /// Runs a process that asks and answers until it is killed.
    private static func killed(on path: String, journal: String, number: Int) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = path as String, journal = journal as String, number = number as Int,
                seed = TestRandom.seed as UInt64,
            ] in
            try await DoomedProgram(journal: journal, number: number, seed: seed).run(on: path)
        }
    }

    private static func note(_ text: String, in ledger: Ledger) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: "\t").map(String.init)
            guard words.count == 3, let id = Int(words[1]) else { continue }
            if words[0] == "ask" {
                ledger.note(ask: id, title: words[2])
            } else {
                ledger.note(answer: words[2], to: id)
            }
        }
    }
}

/// A program that asks and answers, and kills itself at a random moment after it has begun; every
/// second one after it has been told of an answer, however long that takes.
private struct DoomedProgram: Sendable {
    private let told: Int32
    private let number: Int
    private let seed: UInt64

    /// - Parameter journal: The file to which it writes each acknowledgement.
    init(journal: String, number: Int, seed: UInt64) {
        (self.number, self.seed) = (number, seed)
        told = open(journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    func run(on path: String) async throws {
        // Nothing else ends an exit test that hangs, as it would if the queue could not be opened.
        alarm(120)
        let manager = try await AlertManager(path: path, source: "library")
        if number.isMultiple(of: 2) { killSoon() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask { try await askAndAnswer(task, manager) }
            }
            try await group.waitForAll()
        }
    }

    private func askAndAnswer(_ task: Int, _ manager: AlertManager) async throws {
        let name = "\(getpid()).\(task)"
        var random = TestRandom(16 * number + task, seed: seed)
        var count = 0
        while true {
            count += 1
            let title = "Question \(name).\(count)"
            let id = try await manager.show(
                Alert(title, buttons: [.cancel("no"), "yes"], key: "\(name).\(count)"))
            tell("ask\t\(id)\t\(title)\n")
            let button = Bool.random(using: &random) ? "yes" : "no"
            try await manager.answer(id, button: button)
            tell("answer\t\(id)\t\(button)\n")
            if !number.isMultiple(of: 2) { killSoon() }
        }
    }

    private func killSoon() {
        var random = TestRandom(number, seed: seed)
        let milliseconds = Int.random(in: 0...300, using: &random)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            _ = kill(getpid(), SIGKILL)
        }
    }

    /// Writes a line with one call, so that it is written either completely or not at all.
    private func tell(_ line: String) {
        let bytes = Array(line.utf8)
        _ = write(told, bytes, bytes.count)
    }
}
