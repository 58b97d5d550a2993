import AlertCore

/// A reason why windows can't be shown.
public enum DialogError: Error, Sendable, Hashable {
    /// The process does not run in a desktop session.
    case noDisplay
    /// The display server can't be reached.
    case noAnswer(display: String)
    /// No program that shows windows is installed.
    case noProgram
}

extension DialogError: LoggedError {}

extension DialogError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noDisplay:
            "there is no desktop here: neither $WAYLAND_DISPLAY nor $DISPLAY is set"
        case .noAnswer(let display):
            "the desktop does not answer at the display \(display)"
        case .noProgram:
            "it needs zenity or kdialog; on Debian: apt-get install zenity"
        }
    }
}
