import Linux

/// The one gate that turns `errno` into an ``AlertError``.
package enum SystemError {
    package static func current(_ operation: String, _ path: String) -> AlertError {
        AlertError(.current("\(operation) \(path)"), path: path)
    }
}

extension AlertError {
    /// What the kernel refused, of a file.
    package init(_ error: LinuxError, path: String) {
        self =
            error.isRefusal
            ? .notPermitted(path: path, error.reason)
            : .storage(operation: error.operation, error.reason)
    }
}
