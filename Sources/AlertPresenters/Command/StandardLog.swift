import AlertCore
import Glibc
import Linux

/// The standard error, the log of presenters that are given no other.
public enum StandardLog {
    /// Writes one line, with its control characters made visible.
    public static func write(_ line: String) {
        // A line that can't be written is lost: there is nowhere else to say so.
        try? SharedDescriptor.write(Array((SafeText.line(line) + "\n").utf8), to: STDERR_FILENO)
    }
}
