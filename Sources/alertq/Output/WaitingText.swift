/// How many alerts wait, in words.
enum WaitingText {
    static func count(_ count: Int) -> String {
        switch count {
        case 0: "nothing waits"
        case 1: "1 alert waits"
        default: "\(count) alerts wait"
        }
    }
}
