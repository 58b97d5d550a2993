import Glibc

extension Child {
    /// Lets the process run for at most a random time, then kills it; returns its exit code, and
    /// whether it was killed: it may have ended by itself at the last moment.
    package func runBriefly(
        milliseconds: ClosedRange<Int>, _ random: inout TestRandom
    ) async -> (code: Int32?, wasKilled: Bool) {
        let limit =
            ContinuousClock.now + .milliseconds(Int.random(in: milliseconds, using: &random))
        while ContinuousClock.now < limit {
            if let code = poll() { return (code, false) }
            try? await Task.sleep(for: .milliseconds(1))
        }
        kill(SIGKILL)
        let code = await exit()
        return (code, code == 128 + SIGKILL)
    }
}
