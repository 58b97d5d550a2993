import AlertCore
import Glibc

/// The standard error, for presenters that nobody gave another log.
public enum StandardLog {
    /// Writes one line, with its control characters made visible.
    public static func write(_ line: String) {
        let bytes = Array((SafeText.line(line) + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
