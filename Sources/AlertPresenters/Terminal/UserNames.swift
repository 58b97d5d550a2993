import AlertCore
import Dispatch
import Synchronization

/// The names of principals, looked up in the background: a directory service may take a while.
final class UserNames: Sendable {
    private struct State {
        var names: [Principal: String] = [:]
        var asked: Set<Principal> = []
    }

    private let state = Mutex(State())

    /// The name of a principal if it is already known; the first call starts looking it up.
    func name(_ principal: Principal) -> String? {
        let (name, isNew) = state.withLock { state in
            (state.names[principal], state.asked.insert(principal).inserted)
        }
        if isNew {
            DispatchQueue.global().async { [weak self] in
                let name = principal.named.label
                self?.state.withLock { $0.names[principal] = name }
            }
        }
        return name
    }

    /// The name of a principal, after a short wait, so that it is there when the alert appears.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func soon(_ principal: Principal) async throws -> String? {
        for _ in 0..<20 where name(principal) == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        return name(principal)
    }
}
