import Dispatch
import Glibc

/// A thread outside of all pools, for code that blocks: Dispatch has 255 for all serial queues of a
/// process.
package final class DedicatedThread: Sendable {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs a closure on a detached thread; see pthread_create(3).
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(DedicatedThread(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<DedicatedThread>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            // A pool's thread is better than none.
            DispatchQueue.global().async(execute: context.takeRetainedValue().body)
        }
    }
}
