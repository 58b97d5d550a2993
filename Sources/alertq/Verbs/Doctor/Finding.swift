/// What one check found.
struct Finding: Sendable {
    let check: String
    let detail: String
    var advice: String?
    /// What the command exits with because of it; ``ExitCode/done`` if all is well.
    var code = ExitCode.done
    /// Whether it is neither well nor a problem.
    var isNote = false
}
