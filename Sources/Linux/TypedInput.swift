import Glibc

/// What has been typed on a terminal and not yet been read.
package enum TypedInput {
    /// Discards it, except keys that send signals, such as Ctrl-C: they still send them.
    ///
    /// tcflush(3) also throws away bytes that the terminal has received and not yet looked at;
    /// read(2) has it look at them first. In canonical mode a line that has only been begun can't
    /// be read, so that what is left of it is flushed; see termios(3).
    ///
    /// - Parameter number: A descriptor that doesn't block, of a terminal that has this process's
    ///   group in the foreground: from the background, reading stops the process.
    package static func discard(from number: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // More than a terminal and its driver hold; somebody may go on typing.
        var reads = 64
        while reads > 0, read(number, &bytes, bytes.count) > 0 { reads -= 1 }
        var modes = termios()
        guard tcgetattr(number, &modes) == 0, modes.c_lflag & tcflag_t(ICANON) != 0 else { return }
        tcflush(number, TCIFLUSH)
    }
}
