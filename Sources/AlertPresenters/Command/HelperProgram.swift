/// Runs programs for their effect rather than to show something.
package enum HelperProgram {
    /// Runs a program to its end, and returns its exit code; `nil` if it can't be started, dies
    /// from a signal, or is ended because it takes too long.
    ///
    /// - Parameter variables: What its environment has instead of ours; `nil` for what it lacks.
    package static func exitCode(
        of words: [String], variables: [String: String?] = [:], within time: Duration
    ) async -> Int32? {
        let running = Task { () -> Int32? in
            try await Blocking.run("alertq.helper") { stop in
                var run = try ProgramRun(words, variables: variables)
                return switch run.finish(stop) {
                case .replied(_, let code), .silent(let code): code
                case .failed, .stopped: nil
                }
            }
        }
        let alarm = Task {
            try await Task.sleep(for: time)
            running.cancel()
        }
        defer { alarm.cancel() }
        return try? await running.value
    }
}
