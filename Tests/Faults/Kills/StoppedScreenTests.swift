import AlertCore
import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Screens that are stopped, continued, killed and restarted while they show questions.
@Suite("Stopped screens", .inParallel)
struct StoppedScreenTests {
    /// How many rounds of questions are asked; about thirty screens are stopped or killed in each.
    static let rounds = FaultForm.count(short: 6, full: 40)

    private let queue: CommandLineQueue
    /// Half of the screens answer quickly, the others hardly ever.
    private let programs: [String]

    init() throws {
        queue = try CommandLineQueue()
        programs = [
            try queue.script("quick", "sleep 0.3; echo yes"),
            try queue.script("slow", "exec sleep 60"),
        ]
    }

    private func start(_ index: Int) throws -> Child {
        try queue.start(["present", "--on", "command:\(programs[index % 2])"])
    }

    @Test(
        "Screens that are stopped and killed show the same alert, and every alert is answered")
    func random() async throws {
        let seed = TestRandom.seed
        var generator = TestRandom()
        var screens = try (0..<6).map { try start($0) }
        var stopped: Set<Int> = []
        defer { for screen in screens { screen.kill(SIGKILL) } }
        let manager = try await AlertManager(path: queue.path)
        let watch = CurrentAlertWatch()
        let watching = Task { await watch.run(on: manager) }
        defer { watching.cancel() }
        var count = 0
        for round in 1...Self.rounds {
            // More than one question, so that another one could be shown too early.
            let askers = try (1...3).map { number in
                try queue.start(
                    ["ask", "Question \(round).\(number)", "-b", "yes", "--cancel", "no"])
            }
            let disturbed = ContinuousClock.now + .seconds(2)
            while askers.contains(where: { $0.poll() == nil }), ContinuousClock.now < disturbed {
                let index = Int.random(in: 0..<screens.count, using: &generator)
                let screen = screens[index]
                count += 1
                if stopped.remove(index) != nil {
                    watch.note(screen.pid, isStopped: false)
                    screen.kill(SIGCONT)
                } else if isSpared(index, stopped), Bool.random(using: &generator) {
                    watch.note(screen.pid, isStopped: true)
                    screen.kill(SIGSTOP)
                    stopped.insert(index)
                } else {
                    screen.kill(SIGKILL)
                    _ = await screen.exit()
                    screens[index] = try start(index)
                }
                usleep(.random(in: 0...60_000, using: &generator))
            }
            // One that was stopped while it had the queue's lock keeps it: then all go on.
            let lock = try Child("flock", ["-w", "3", queue.path + "-lock", "true"])
            if await lock.exit() != 0 {
                for index in stopped {
                    watch.note(screens[index].pid, isStopped: false)
                    screens[index].kill(SIGCONT)
                }
                stopped = []
            }
            // Screens that are stopped now stay stopped: one of the others shows the questions.
            for asker in askers {
                // Each of them may wait for takeovers first.
                let finished = await asker.finish(within: .seconds(120))
                #expect(
                    finished.code == 0 && finished.output == "yes\n",
                    "round \(round) of ALERTQ_SEED=\(seed): \(finished)")
            }
        }
        #expect(watch.faults == [], "ALERTQ_SEED=\(seed)")
        #expect(watch.looks > 10)
        await manager.close()
        FaultForm.report(
            "\(3 * Self.rounds) questions to screens that were stopped and killed \(count) times")
        #expect(try await queue.faults() == [])
    }

    /// Whether another screen that answers quickly would keep running.
    private func isSpared(_ index: Int, _ stopped: Set<Int>) -> Bool {
        [0, 2, 4].contains { $0 != index && !stopped.contains($0) }
    }
}
