import AlertQueueTesting
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Screens that are stopped, let go on, killed and started again while they show questions.
@Suite("Stops of screens")
struct StoppedScreenTests {
    /// How many questions are asked; in each some ten screens are stopped or killed.
    static let rounds = FaultForm.count(short: 6, full: 100)
    private static let seeds: [UInt64] = {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_SEED"].flatMap { UInt64($0) }
        return [wanted ?? UInt64.random(in: 1...999_999)]
    }()

    private let queue: CommandLineQueue
    private let program: String

    init() throws {
        queue = try CommandLineQueue()
        program = try queue.script("show", "sleep 0.3; echo yes")
    }

    private func start() throws -> Child {
        try queue.start(["present", "--on", "command:\(program)"])
    }

    @Test("However screens are stopped and killed, each question gets its answer", arguments: seeds)
    func random(seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        var screens = try (1...4).map { _ in try start() }
        var stopped: Set<Int> = []
        defer { for screen in screens { screen.kill(SIGKILL) } }
        for round in 1...Self.rounds {
            let asker = try queue.start(["ask", "Question \(round)", "-b", "yes", "--cancel", "no"])
            let disturbed = ContinuousClock.now + .seconds(1)
            while asker.poll() == nil, ContinuousClock.now < disturbed {
                let index = Int.random(in: 0..<screens.count, using: &generator)
                if stopped.remove(index) != nil {
                    screens[index].kill(SIGCONT)
                } else if stopped.count < screens.count - 1, Bool.random(using: &generator) {
                    screens[index].kill(SIGSTOP)
                    stopped.insert(index)
                } else {
                    screens[index].kill(SIGKILL)
                    _ = await screens[index].exit()
                    screens[index] = try start()
                }
                usleep(.random(in: 0...60_000, using: &generator))
            }
            // Those that are stopped now stay so: one of the others shows it.
            let finished = await asker.finish()
            #expect(
                finished.code == 0 && finished.output == "yes\n",
                "round \(round) of ALERTQ_SEED=\(seed): \(finished)")
        }
        FaultForm.report("\(Self.rounds) questions to screens that were stopped and killed")
        #expect(try await queue.faults() == [])
    }
}
