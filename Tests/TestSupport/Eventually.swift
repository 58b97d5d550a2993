/// Waits until a condition holds, for a minute at most unless said; returns whether it does.
///
/// On a machine with far more to do than this, everything takes many times as long as it should.
///
/// - Parameter pause: The time between two looks, for a condition that is dear to look at.
package nonisolated(nonsending) func eventually(
    within bound: Duration = .seconds(60), each pause: Duration = .milliseconds(2),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let limit = ContinuousClock.now + bound
    while ContinuousClock.now < limit {
        if try await condition() { return true }
        try? await Task.sleep(for: pause)
    }
    return false
}
