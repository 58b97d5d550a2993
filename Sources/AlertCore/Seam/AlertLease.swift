import Synchronization

/// A lease of a process on one alert, for a ``LeasePurpose``; it ends with the process at the latest.
package protocol AlertLease: Sendable {
    /// A file descriptor that extends the lease for as long as a child that inherits it runs; `nil`
    /// if the store has none.
    var descriptor: Int32? { get }
    /// Identifies the lease where it can be lost while its process lives: changes under it are
    /// refused once it is lost. `nil` where it can't be.
    var epoch: Epoch? { get }
    /// Whether it is held now, as far as this process knows.
    var isHeld: Bool { get }
    /// Sets the closure that is called, at most once, when the lease is lost before it has ended.
    func whenLost(_ body: @escaping @Sendable () -> Void)
    /// Ends the lease, which otherwise ends with the process.
    func end()
}

extension AlertLease {
    package var epoch: Epoch? { nil }
    package var isHeld: Bool { true }
    package func whenLost(_ body: @escaping @Sendable () -> Void) {}
}

/// A lease that no child process can extend, and that a closure ends.
package final class ClosureLease: AlertLease {
    private let onEnd: Mutex<(@Sendable () -> Void)?>

    /// - Parameter onEnd: Called once, even if the lease is ended several times: a second call could
    ///   end the lease of somebody else.
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

    deinit { end() }

    package var descriptor: Int32? { nil }

    package func end() {
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        onEnd?()
    }
}

/// What a lease on an alert is for.
package enum LeasePurpose: Sendable, Hashable, Codable {
    /// The sole right to its response: that of its handler while it runs, or of an asker that takes
    /// the response.
    case handling
    /// To wait for its response, which any number of calls may do at once: it gives no right, and
    /// tells others that somebody waits.
    case waiting
}
