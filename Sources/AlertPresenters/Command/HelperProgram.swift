/// Other programs that are run for what they do, and not for what they show.
package enum HelperProgram {
    /// Runs a program to its end, and returns its exit code; `nil` where it can't be started, is
    /// ended by a signal, or takes longer than a time, after which it is ended.
    package static func exitCode(of words: [String], within time: Duration) async -> Int32? {
        let running = Task { () -> Int32? in
            try await Blocking.run("alertq.helper") { stop in
                var run = try ProgramRun(words, input: "", usesTerminal: false)
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
