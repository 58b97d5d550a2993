/// The state of a presentation loop.
enum LoopState {
    case stopped
    /// It waits for an alert to show, for another screen, or for the end of a pause.
    case waiting
    /// It looks for the next alert, or clears the screen after the last one.
    case looking
    case showing(AlertShow)
    /// It is ending; the alert on the screen is being taken off.
    case stopping(AlertShow?)

    /// Whether it shows alerts as they come.
    var isOn: Bool {
        switch self {
        case .stopped, .stopping: false
        case .waiting, .looking, .showing: true
        }
    }

    /// The alert on the screen.
    var show: AlertShow? {
        switch self {
        case .showing(let show): show
        case .stopping(let show): show
        case .stopped, .waiting, .looking: nil
        }
    }
}
