import Glibc

/// Results could not be written.
package struct OutputError: Error, CustomStringConvertible {
    /// The system's number for what went wrong; see errno(3).
    package let errorNumber: Int32

    /// Whether nobody reads the results any more, as after `alertq list | head -1`.
    package var isBrokenPipe: Bool { errorNumber == EPIPE }

    package var description: String {
        "can't write the result: \(String(cString: strerror(errorNumber)))"
    }
}
