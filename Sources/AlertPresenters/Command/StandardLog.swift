import AlertCore
import Glibc

/// The standard error, the log of presenters that are given no other.
public enum StandardLog {
    /// Writes one line, with its control characters made visible.
    public static func write(_ line: String) {
        let bytes = Array((SafeText.line(line) + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
