import Glibc

/// Results could not be written.
struct OutputError: Error, CustomStringConvertible {
    /// The system's number for what went wrong; see errno(3).
    let errorNumber: Int32

    /// Whether the reader of the results has gone, as after `alertq list | head -1`.
    var isBrokenPipe: Bool { errorNumber == EPIPE }

    var description: String {
        "can't write the result: \(String(cString: strerror(errorNumber)))"
    }
}
