/// What one check found.
struct Finding: Sendable {
    let check: String
    let detail: String
    var advice: String?
    /// The exit code that it leads to; ``ExitCode/done`` if all is well.
    var code = ExitCode.done
    /// Whether it is neither well nor a problem.
    var isNote = false
}
