import Glibc

#if canImport(Testing)
    internal import Testing
#endif

/// The location in a test that an issue names.
struct CallSite: Sendable {
    let fileID: String
    let filePath: String
    let line: Int
    let column: Int

    /// Fails the test: Swift Testing records an issue.
    ///
    /// Other test libraries get a line on the standard error. It is also printed for an issue
    /// outside any test, such as that of a script on a manager's own task, to say where it belongs.
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
