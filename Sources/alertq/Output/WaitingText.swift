import AlertQueue

/// How many alerts wait, in words.
enum WaitingText {
    static func count(_ count: Int) -> String {
        switch count {
        case 0: "nothing waits"
        case 1: "1 alert waits"
        default: "\(count) alerts wait"
        }
    }

    /// How many alerts come before another one.
    static func before(_ count: Int) -> String {
        switch count {
        case 1: "1 alert comes first"
        case AlertManager.countedBefore...: "\(count) or more alerts come first"
        default: "\(count) alerts come first"
        }
    }
}
