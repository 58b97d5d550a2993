import AlertCore
import Dispatch
import Synchronization

/// The names of accounts, looked up beside the screen: a directory service may take its time.
final class UserNames: Sendable {
    private struct State {
        var names: [UInt32: String] = [:]
        var asked: Set<UInt32> = []
    }

    private let state = Mutex(State())

    /// The name of an account if it is known by now; asking makes it known later.
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

    /// Waits a little for the name, so that it doesn't come after the alert.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func soon(_ uid: UInt32) async throws -> String? {
        for _ in 0..<20 where name(uid) == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        return name(uid)
    }
}
