import AlertCore
import FoundationEssentials
import Glibc

/// An error of a terminal.
public enum TerminalError: Error, Sendable, Hashable {
    /// The device can't be opened; without a controlling terminal, `/dev/tty` never can.
    case cannotOpen(device: String, reason: String)
    /// The device is not a terminal.
    case notATerminal(device: String)
    /// The terminal has gone: its window was closed, or its line was cut.
    case hungUp(device: String)
    /// The input of the terminal ended, as after Ctrl-D at a prompt.
    case endOfInput(device: String)
    /// Another job has the terminal; this process runs in the background.
    case inBackground(device: String)
    /// Another operation failed.
    case failed(operation: String, device: String, reason: String)
}

extension TerminalError: CustomStringConvertible {
    /// A sentence for a person, without the capital letter and the full stop.
    public var description: String {
        switch self {
        case .cannotOpen(let device, let reason):
            "can't open the terminal \(device): \(reason)"
        case .notATerminal(let device):
            "\(device) is not a terminal"
        case .hungUp(let device):
            "the terminal \(device) has gone"
        case .endOfInput(let device):
            "the input of the terminal \(device) has ended"
        case .inBackground(let device):
            "this process runs in the background of the terminal \(device), where nobody can answer"
        case .failed(let operation, let device, let reason):
            "can't \(operation) the terminal \(device): \(reason)"
        }
    }
}

extension TerminalError: LoggedError {}

extension TerminalError: LocalizedError {
    /// The same as ``description``, for Foundation.
    public var errorDescription: String? { description }
}

extension TerminalError {
    /// Classifies a failed operation by its errno(3).
    init(_ operation: String, device: String, code: Int32) {
        switch code {
        // A terminal that hung up gives EIO, a removed one ENXIO or ENODEV.
        case EIO, ENXIO, ENODEV: self = .hungUp(device: device)
        default:
            self = .failed(
                operation: operation, device: device, reason: String(cString: strerror(code)))
        }
    }
}
