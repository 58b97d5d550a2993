import Glibc
import Synchronization

/// The places in which tests run, a few for each core; a test waits until it has as many as it
/// needs.
///
/// Most tests wait for something, so more of them can run at once than there are cores. With all of
/// them at once, each would be as slow as on an overloaded machine.
package final class TestPlaces: Sendable {
    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var free: Int
        /// Those that need most places come first, and otherwise those that came first.
        var waiters: [Waiter] = []
    }

    /// The places of this process; `ALERTQ_TEST_PLACES` sets their number, 1 for one test at a
    /// time.
    package static let all = TestPlaces(
        getenv("ALERTQ_TEST_PLACES").flatMap { Int(String(cString: $0)) }
            ?? 3 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    package let count: Int
    private let state: Mutex<State>

    package init(_ count: Int) {
        self.count = max(1, count)
        state = Mutex(State(free: self.count))
    }

    /// Runs a body in a number of places, at most in all of them.
    package func with<Result>(
        _ wanted: Int, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let taken = min(max(1, wanted), count)
        await take(taken)
        defer { leave(taken) }
        return try await body()
    }

    private func take(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                let index =
                    state.waiters.firstIndex { $0.count < count } ?? state.waiters.endIndex
                state.waiters.insert(Waiter(count: count, continuation: continuation), at: index)
                return Self.next(&state)
            }
            for waiter in ready { waiter.continuation.resume() }
        }
    }

    private func leave(_ count: Int) {
        let ready = state.withLock { state in
            state.free += count
            return Self.next(&state)
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Removes the waiters whose turn has come. One that needs more places than are free holds up
    /// the rest: otherwise it would never find enough of them free.
    private static func next(_ state: inout State) -> [Waiter] {
        var ready: [Waiter] = []
        while let first = state.waiters.first, first.count <= state.free {
            state.free -= first.count
            ready.append(state.waiters.removeFirst())
        }
        return ready
    }
}
