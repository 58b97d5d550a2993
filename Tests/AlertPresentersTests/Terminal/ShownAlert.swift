import AlertCore
import Glibc

@testable import AlertPresenters

/// An alert on the screen of a terminal, in the process of an exit test.
struct ShownAlert {
    private let task: Task<PresenterChoice, any Error>

    /// Shows it, and returns once it has appeared.
    init(on path: String) async throws {
        // Nothing else ends an exit test that hangs.
        alarm(60)
        let presenter = try TerminalPresenter(device: path, term: "xterm", hasColours: true)
        let appeared = Flag()
        task = Task { try await presenter.present(.of(Alert("Hi"), appeared: appeared)) }
        while !appeared.isSet { try await Task.sleep(for: .milliseconds(1)) }
    }
}
