import AlertCore
import AlertQueue
import Glibc
import Synchronization

/// Checks that the screens of a queue show the same alert.
///
/// Two may differ for a moment: one may already know that an alert is answered, or may have just
/// continued after a stop. A difference that lasts is a fault.
final class CurrentAlertWatch: Sendable {
    /// A second until a screen checks by itself, plus time for a busy machine.
    private static let patience = Duration.seconds(4)

    private struct State {
        var stopped: Set<pid_t> = []
        /// The alerts that differing screens show, and since when.
        var difference: (shown: [pid_t: Alert.ID], since: ContinuousClock.Instant)?
        var faults: [String] = []
        var looks = 0
    }

    private let state = Mutex(State())

    /// Records that a process is stopped or continues: a stopped one still shows its old alert.
    func note(_ pid: pid_t, isStopped: Bool) {
        state.withLock { state in
            if isStopped { state.stopped.insert(pid) } else { state.stopped.remove(pid) }
        }
    }

    /// Checks the screens repeatedly until the task is cancelled.
    func run(on manager: AlertManager) async {
        while !Task.isCancelled {
            look(at: await manager.screens())
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func look(at screens: ScreenRoster) {
        state.withLock { state in
            state.looks += 1
            let shown = Dictionary(
                screens.all.compactMap { screen in screen.alert.map { (screen.process.pid, $0) } },
                uniquingKeysWith: { $1 }
            ).filter { !state.stopped.contains($0.key) }
            let now = ContinuousClock.now
            guard Set(shown.values).count > 1 else {
                state.difference = nil
                return
            }
            guard let difference = state.difference, difference.shown == shown else {
                state.difference = (shown, now)
                return
            }
            if difference.since.duration(to: now) > Self.patience {
                state.faults.append("screens differ: \(shown)")
                state.difference = nil
            }
        }
    }

    /// The faults so far.
    var faults: [String] { state.withLock { $0.faults } }

    var looks: Int { state.withLock { $0.looks } }
}
