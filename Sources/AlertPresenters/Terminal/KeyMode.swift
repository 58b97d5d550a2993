import Glibc

/// The mode of a terminal in which it sends every key at once, without echo; Ctrl-C and Ctrl-Z still
/// send their signals ("cbreak"). See termios(3).
struct KeyMode: Sendable {
    /// The settings that were found.
    let saved: termios

    /// Enters the mode.
    ///
    /// - Throws: ``TerminalError/failed(operation:device:reason:)``.
    init(_ terminal: Terminal, hasScreen: Bool) throws(TerminalError) {
        let number = terminal.descriptor.raw
        // Read again each time: a shell may have changed the mode while this process was stopped.
        var settings = termios()
        guard tcgetattr(number, &settings) == 0 else {
            throw TerminalError("read the mode of", device: terminal.device, code: errno)
        }
        saved = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        TerminalGuard.add(descriptor: number, saved: saved, hasScreen: hasScreen)
        guard tcsetattr(number, TCSANOW, &settings) == 0 else {
            TerminalGuard.remove(descriptor: number)
            throw TerminalError("set the mode of", device: terminal.device, code: errno)
        }
    }

    /// Restores the settings that were found.
    func leave(_ terminal: Terminal) {
        var saved = saved
        // In the background, setting a mode would stop this process; the shell has its own by now.
        if terminal.isInForeground { tcsetattr(terminal.descriptor.raw, TCSANOW, &saved) }
        TerminalGuard.remove(descriptor: terminal.descriptor.raw)
    }
}
