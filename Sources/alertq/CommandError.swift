/// A failure that has its own exit code.
struct CommandError: Error, CustomStringConvertible {
    let code: ExitCode
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
