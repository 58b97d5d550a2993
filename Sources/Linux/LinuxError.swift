import Glibc

/// An operation that the kernel refused, and the reason; see errno(3).
package struct LinuxError: Error, Sendable, Hashable {
    /// The operation with its object: `open /var/lib/alertq/queue.db`.
    package let operation: String
    package let code: Int32

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The error of the call that has just returned.
    package static func current(_ operation: String) -> LinuxError {
        LinuxError(operation, code: errno)
    }

    /// The text of strerror(3) for the code.
    package var reason: String { String(cString: strerror(code)) }

    /// Whether this process lacks permission, as opposed to a fault.
    package var isRefusal: Bool { code == EACCES || code == EPERM }
}

extension LinuxError: CustomStringConvertible {
    package var description: String { "can't \(operation): \(reason)" }
}
