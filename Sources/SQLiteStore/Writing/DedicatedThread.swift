import AlertCore
import Dispatch
import Glibc

/// A thread outside of all pools, for code that blocks.
enum DedicatedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread; see pthread_create(3).
    static func run(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context)
        guard code == 0 else {
            // No thread could be created: a pool's thread is better than none.
            Unmanaged<Body>.fromOpaque(context).release()
            DispatchQueue.global().async(execute: body)
            return
        }
    }
}
