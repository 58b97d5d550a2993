import AlertCore
import FoundationEssentials

/// The JSON of a screen. Only its alerts change from one write to the next, so the rest is cached.
///
/// Gain: encoding all of it each time takes 5 % of a story's CPU time (`perf record alertq-bench
/// story`, files in memory).
struct ScreenJSON {
    private var screen: AttachedScreen?
    /// The text after the alerts, including the closing brace.
    private var rest: [UInt8] = []

    /// The bytes of a screen; `nil` if it can't be encoded.
    mutating func bytes(of screen: AttachedScreen) -> [UInt8]? {
        var quiet = screen
        (quiet.alert, quiet.current) = (nil, nil)
        if self.screen != quiet {
            guard let json = try? JSONEncoder().encode(quiet) else { return nil }
            (self.screen, rest) = (quiet, Array(json.dropFirst()))
        }
        var start = "{"
        if let alert = screen.alert { start += "\"alert\":\(alert)," }
        if let current = screen.current { start += "\"current\":\(current)," }
        return Array(start.utf8) + rest
    }
}
