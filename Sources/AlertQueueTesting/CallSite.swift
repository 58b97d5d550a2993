import Glibc

#if canImport(Testing)
    internal import Testing
#endif

/// The location in a test to which an issue is attributed.
struct CallSite: Sendable {
    let fileID: String
    let filePath: String
    let line: Int
    let column: Int

    /// Fails the test: Swift Testing records an issue.
    ///
    /// Under other test libraries, a line is printed to the standard error. It is printed as well
    /// for an issue outside any test, such as in a script that runs on a manager's own task.
    func fail(_ text: String) {
        #if canImport(Testing)
            Issue.record(
                Comment(rawValue: text),
                sourceLocation: SourceLocation(
                    fileID: fileID, filePath: filePath, line: line, column: column))
            if Test.current != nil { return }
        #endif
        let line = "\(filePath):\(line):\(column): \(text)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
