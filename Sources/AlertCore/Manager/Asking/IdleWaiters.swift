import Synchronization

/// The calls that wait until there is nothing left to show.
final class IdleWaiters: Sendable {
    private let ends = ChangeSignal()
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Waits until the next ``wake()``, or until the task is cancelled.
    ///
    /// - Parameter begun: Runs once the wait has begun.
    nonisolated(nonsending) func wait(_ begun: () -> Void) async {
        count.add(1, ordering: .acquiringAndReleasing)
        defer { count.subtract(1, ordering: .acquiringAndReleasing) }
        let seen = ends.count
        begun()
        await ends.wait(after: seen)
    }

    func wake() { ends.change() }
}
