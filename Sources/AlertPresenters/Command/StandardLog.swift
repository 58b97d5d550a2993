import AlertCore
import Glibc
import Linux
import TextFormats

/// The standard error, the log of presenters that are given no other.
public enum StandardLog {
    /// Writes one line, with its control characters made visible.
    ///
    /// While a program has the terminal of this process, a line for a terminal waits until the
    /// program has ended.
    public static func write(_ line: String) {
        let bytes = Array(TerminalCharacters().ours(SafeText.line(line) + "\n").utf8)
        // A line that can't be written is lost: there is nowhere else to say so.
        let write = { @Sendable in _ = try? SharedDescriptor.write(bytes, to: STDERR_FILENO) }
        if isatty(STDERR_FILENO) == 1 { LentTerminal.afterwards(write) } else { write() }
    }
}
