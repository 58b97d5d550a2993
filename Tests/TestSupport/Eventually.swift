/// Waits until a condition holds, for at most three minutes by default; returns whether it does.
///
/// On a busy machine, everything takes many times as long as usual.
///
/// - Parameter pause: The time between two checks, for a condition that is expensive to check.
package nonisolated(nonsending) func eventually(
    within bound: Duration = .seconds(180), each pause: Duration = .milliseconds(2),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let limit = ContinuousClock.now + bound
    while ContinuousClock.now < limit {
        if try await condition() { return true }
        try? await Task.sleep(for: pause)
    }
    return false
}
