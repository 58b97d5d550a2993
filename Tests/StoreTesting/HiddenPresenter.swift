import AlertCore
import Synchronization

/// A presenter whose alerts never appear, as in a window that is too small.
package final class HiddenPresenter: AlertPresenter {
    package let name = "hidden"
    private let shows = Mutex(0)

    package init() {}

    /// How often it was to show an alert.
    package var count: Int { shows.withLock { $0 } }

    package func present(_ presentation: Presentation) async throws -> PresenterChoice {
        shows.withLock { $0 += 1 }
        try await Task.sleep(for: .seconds(600))
        return .close
    }
}
