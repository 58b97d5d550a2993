import AlertCore
import AlertQueue
import Glibc
import Synchronization

/// Watches that the screens of a queue show one alert at a time.
///
/// For a moment two may differ: one has heard already that an alert has its answer, or has just
/// gone on after a stop. What stays so for longer is a fault.
final class CurrentAlertWatch: Sendable {
    /// A second until a screen looks by itself, and time for a busy machine.
    private static let patience = Duration.seconds(4)

    private struct State {
        var stopped: Set<pid_t> = []
        /// What screens show that differ, and since when.
        var difference: (shown: [pid_t: Alert.ID], since: ContinuousClock.Instant)?
        var faults: [String] = []
        var looks = 0
    }

    private let state = Mutex(State())

    /// Notes that a process is stopped, or that it goes on: a stopped one shows what it showed.
    func note(_ pid: pid_t, isStopped: Bool) {
        state.withLock { state in
            if isStopped { state.stopped.insert(pid) } else { state.stopped.remove(pid) }
        }
    }

    /// Looks at the screens again and again, until the task is cancelled.
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
                screens.all.compactMap { screen in screen.alert.map { (screen.pid, $0) } },
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

    /// What has been wrong.
    var faults: [String] { state.withLock { $0.faults } }

    var looks: Int { state.withLock { $0.looks } }
}
