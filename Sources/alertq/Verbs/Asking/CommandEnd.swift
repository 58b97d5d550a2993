/// The command that this process has run has ended by itself, and its exit status is ours.
struct CommandEnd: Error {
    /// From 0 to 255; see exit(3).
    let status: Int32
}
