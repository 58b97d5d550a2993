import Dispatch
import Synchronization

/// Reaps child processes soon after they have ended, even if no test waits for them.
///
/// Swift Testing waits for its exit tests by looking for any child that has ended, with
/// `waitid(P_ALL, …, WNOWAIT)`: it would find one that is not reaped again and again.
enum Reaper {
    private struct Entry: Sendable {
        weak var child: Child?
    }

    private static let entries = Mutex<[Entry]>([])

    nonisolated(unsafe) private static let timer: any DispatchSourceTimer = {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "alertq.reaper"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(10))
        timer.setEventHandler { look() }
        timer.resume()
        return timer
    }()

    static func add(_ child: Child) {
        entries.withLock { $0.append(Entry(child: child)) }
        _ = timer
    }

    private static func look() {
        // Children are released outside of the lock: releasing the last reference kills the child.
        let children = entries.withLock { $0.compactMap(\.child) }
        let ended = Set(children.filter { $0.poll() != nil }.map(ObjectIdentifier.init))
        withExtendedLifetime(children) {
            entries.withLock { entries in
                entries.removeAll { $0.child.map { ended.contains(ObjectIdentifier($0)) } ?? true }
            }
        }
    }
}
