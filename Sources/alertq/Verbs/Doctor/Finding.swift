/// What one check found.
package struct Finding: Sendable {
    package let check: String
    package let detail: String
    package var advice: String?
    /// What the command exits with because of it; ``ExitCode/done`` if all is well.
    package var code = ExitCode.done
    /// Whether it is neither well nor a problem.
    package var isNote = false
}
