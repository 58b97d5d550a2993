import Linux

/// The only place that turns `errno` into an ``AlertError``.
package enum SystemError {
    package static func current(_ operation: String, _ path: String) -> AlertError {
        AlertError(.current("\(operation) \(path)"), path: path)
    }
}

extension AlertError {
    /// Runs a closure that works on a file, and reports what the kernel refused.
    package static func onFile<Result>(
        _ path: String, _ body: () throws(LinuxError) -> Result
    ) throws(AlertError) -> Result {
        do throws(LinuxError) {
            return try body()
        } catch {
            throw AlertError(error, path: path)
        }
    }

    /// The error for an operation on a file that the kernel refused.
    package init(_ error: LinuxError, path: String) {
        self =
            error.isRefusal
            ? .notPermitted(path: path, error.reason)
            : .storage(operation: error.operation, error.reason)
    }
}
