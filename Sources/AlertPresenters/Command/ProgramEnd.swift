/// How a program that showed an alert ended.
enum ProgramEnd: Sendable, Hashable {
    /// It printed something and ended with an exit code.
    case replied(String, code: Int32)
    /// It ended with an exit code and printed nothing.
    case silent(code: Int32)
    /// It did something that no presenter may do, such as crash; the reason completes a sentence.
    case failed(String)
    /// It was ended, because the alert was no longer to be shown.
    case stopped
}
