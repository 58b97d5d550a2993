import AlertCore
import Dispatch
import Synchronization

/// The names of accounts, looked up in the background: a directory service may take a while.
final class UserNames: Sendable {
    private struct State {
        var names: [UInt32: String] = [:]
        var asked: Set<UInt32> = []
    }

    private let state = Mutex(State())

    /// The name of an account if it is already known; the first call starts looking it up.
    func name(_ uid: UInt32) -> String? {
        let (name, isNew) = state.withLock { state in
            (state.names[uid], state.asked.insert(uid).inserted)
        }
        if isNew {
            DispatchQueue.global().async { [weak self] in
                let name = Identity.userName(uid) ?? "uid \(uid)"
                self?.state.withLock { $0.names[uid] = name }
            }
        }
        return name
    }

    /// The name of an account, after a short wait, so that it is there when the alert appears.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func soon(_ uid: UInt32) async throws -> String? {
        for _ in 0..<20 where name(uid) == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        return name(uid)
    }
}
