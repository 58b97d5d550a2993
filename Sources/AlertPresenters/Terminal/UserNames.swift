import AlertCore
import Dispatch
import Synchronization

/// The names of accounts, looked up in the background: a directory service may take a while.
final class UserNames: Sendable {
    private struct State {
        var names: [Account: String] = [:]
        var asked: Set<Account> = []
    }

    private let state = Mutex(State())

    /// The name of an account if it is already known; the first call starts looking it up.
    func name(_ account: Account) -> String? {
        let (name, isNew) = state.withLock { state in
            (state.names[account], state.asked.insert(account).inserted)
        }
        if isNew {
            DispatchQueue.global().async { [weak self] in
                let name = account.named.label
                self?.state.withLock { $0.names[account] = name }
            }
        }
        return name
    }

    /// The name of an account, after a short wait, so that it is there when the alert appears.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func soon(_ account: Account) async throws -> String? {
        for _ in 0..<20 where name(account) == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        return name(account)
    }
}
