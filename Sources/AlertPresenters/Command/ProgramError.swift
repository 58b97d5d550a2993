import AlertCore
import Linux
import TextFormats

/// An error of a program that shows alerts.
public enum ProgramError: Error, Sendable, Hashable {
    /// There is no such program, or it is not executable.
    case notFound(program: String)
    /// A system call failed.
    case failed(operation: String, reason: String)
    /// The program has failed repeatedly. The log keeps the reason for ever, but not what the
    /// program wrote, which may have what a person typed.
    case unusable(program: String, reason: String, wrote: String? = nil)
}

extension ProgramError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let program):
            "there is no program “\(program)” that can be started; give a path, or a name in $PATH"
        case .failed(let operation, let reason): "can't \(operation): \(reason)"
        case .unusable(let program, let reason, let text):
            "\(program) \(reason)" + (text.map { " (\($0))" } ?? "")
        }
    }
}

extension ProgramError: LoggedError {
    package var logged: String {
        guard case .unusable(let program, let reason, _) = self else {
            return SafeText.line("\(self)")
        }
        return SafeText.line("\(ProgramError.unusable(program: program, reason: reason))")
    }
}

extension ProgramError {
    init(_ error: LinuxError) {
        self = .failed(operation: error.operation, reason: error.reason)
    }
}
