/// A signal asked this process to end, and all that must be undone has been.
struct Interruption: Error {
    let signal: Int32
}
