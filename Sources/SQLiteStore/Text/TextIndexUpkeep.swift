import AlertCore
import Synchronization

/// Indexes new texts a little at a time while a screen is attached, so that a later search need not
/// wait for that.
///
/// Gain: a search saves 15 µs for each response that is already indexed (`alertq-bench text`, the
/// rate of indexing).
final class TextIndexUpkeep: Sendable {
    /// The pause between two checks of the index.
    private static let pause = Duration.seconds(30)
    /// How many unindexed responses make it worthwhile.
    private static let worth = 100

    private let isPausedNow = Mutex(false)
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

    init(of store: SQLiteAlertStore) {
        let started = Task { [weak self, weak store] in
            // Cancelled when the screen is detached.
            while (try? await Task.sleep(for: Self.pause)) != nil {
                guard let self, let store else { return }
                await self.indexNewTexts(of: store)
            }
        }
        task.withLock { $0 = started }
    }

    /// Whether an alert is on the screen, which comes first.
    var isPaused: Bool {
        get { isPausedNow.withLock { $0 } }
        set { isPausedNow.withLock { $0 = newValue } }
    }

    func stop() { task.withLock { $0 }?.cancel() }

    private func indexNewTexts(of store: SQLiteAlertStore) async {
        // Anything that can't be done now is done by a search.
        guard var left = try? await store.unindexedCount(), left >= Self.worth else { return }
        while left > 0, !isPaused, !Task.isCancelled {
            left = (try? await store.indexSomeTexts()) ?? 0
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
