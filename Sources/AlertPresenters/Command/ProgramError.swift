import Linux

/// An error of a program that shows alerts.
public enum ProgramError: Error, Sendable, Hashable {
    /// There is no such program, or it is not executable.
    case notFound(program: String)
    /// A system call failed.
    case failed(operation: String, reason: String)
    /// The program has failed repeatedly.
    case unusable(program: String, reason: String)
}

extension ProgramError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let program):
            "there is no program “\(program)” that can be started; give a path, or a name in $PATH"
        case .failed(let operation, let reason): "can't \(operation): \(reason)"
        case .unusable(let program, let reason): "\(program) \(reason)"
        }
    }
}

extension ProgramError {
    init(_ error: LinuxError) {
        self = .failed(operation: error.operation, reason: error.reason)
    }
}
