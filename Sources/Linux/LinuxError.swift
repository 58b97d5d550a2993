import Glibc

/// What the kernel refused to do, and why; see errno(3).
package struct LinuxError: Error, Sendable, Hashable {
    /// What was tried, with what it was tried on: `open /var/lib/alertq/queue.db`.
    package let operation: String
    package let code: Int32

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The failure of the call that has just returned.
    package static func current(_ operation: String) -> LinuxError {
        LinuxError(operation, code: errno)
    }

    /// What strerror(3) has for the code.
    package var reason: String { String(cString: strerror(code)) }

    /// Whether this process lacks a right, rather than that something is broken.
    package var isRefusal: Bool { code == EACCES || code == EPERM }
}

extension LinuxError: CustomStringConvertible {
    package var description: String { "can't \(operation): \(reason)" }
}
