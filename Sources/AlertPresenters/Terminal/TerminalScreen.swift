import Synchronization

/// The lines that an alert takes on a terminal, below what was there before.
///
/// Between two drawings the cursor stands where the first line begins, so that everything above it
/// is somebody else's, and everything from there to the end of the screen is the alert's. When the
/// window's width changes, some terminals wrap its lines again and others cut them off, but in each
/// of them the cursor stays with its line; nothing has to be known about the lines between. The
/// sequences are CUU, ED, EL and IL of ECMA-48, and xterm's private modes.
final class TerminalScreen: Sendable {
    private struct Drawn {
        var lines: [StyledLine] = []
        var size: Terminal.Size
        var isStale = false
    }

    private let terminal: Terminal
    let hasColours: Bool
    private let drawn = Mutex<Drawn?>(nil)

    init(_ terminal: Terminal, hasColours: Bool) {
        self.terminal = terminal
        self.hasColours = hasColours
    }

    /// Replaces the lines on the screen, if anything differs.
    ///
    /// While the terminal takes no output, nothing piles up: a later call draws the latest state.
    ///
    /// - Returns: Whether these are the lines that have been written.
    func show(_ lines: [StyledLine], size: Terminal.Size) -> Bool {
        drawn.withLock { drawn in
            var bytes = ""
            if let before = drawn {
                guard before.isStale || before.lines != lines || before.size != size else {
                    return true
                }
                guard terminal.isDrained else { return false }
                bytes = before.size == size ? "\r" : Self.newLine(columns: size.columns)
            } else {
                bytes = Self.newLine(columns: size.columns) + Self.enterSequence
            }
            bytes += body(lines)
            drawn = Drawn(lines: lines, size: size)
            terminal.write(bytes)
            return true
        }
    }

    /// Has the next call of ``show(_:size:)`` draw everything again, even if nothing differs.
    func invalidate() {
        drawn.withLock { $0?.isStale = true }
    }

    /// Takes the lines off the screen; the cursor is then where the first of them began.
    func clear() {
        drawn.withLock { drawn in
            guard drawn != nil else { return }
            terminal.write(beginning(drawn) + TerminalGuard.leaveSequence)
            drawn = nil
        }
    }

    /// Leaves the lines where they are: another process has the screen now.
    func forget() {
        drawn.withLock { $0 = nil }
    }

    /// Writes a line that stays, above the lines that are shown, if any are.
    func print(_ text: String) {
        drawn.withLock { drawn in
            terminal.write(
                beginning(drawn) + text + "\r\n" + (drawn.map { body($0.lines) } ?? ""))
        }
    }

    /// Moves to where the first line begins, and erases the lines, if any are shown.
    private func beginning(_ drawn: Drawn?) -> String {
        guard let drawn else { return "\r" }
        let size = terminal.size
        return (drawn.size == size ? "\r" : Self.newLine(columns: size.columns)) + "\u{1B}[J"
    }

    /// The lines, each erased before it is written, without line wrap: where a font is wider than
    /// Unicode says, a line is cut off instead of wrapped.
    private func body(_ lines: [StyledLine]) -> String {
        "\u{1B}[?7l"
            + lines.map { "\u{1B}[2K" + $0.rendered(hasColours: hasColours) }
            .joined(separator: "\r\n")
            + "\u{1B}[J\r" + (lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : "")
            + "\u{1B}[?7h"
    }

    /// Hides the cursor, and turns on bracketed paste.
    private static let enterSequence = "\u{1B}[?25l\u{1B}[?2004h"

    /// Begins a new line unless the cursor is at the beginning of one.
    ///
    /// The spaces just fill an empty line, or wrap after other text. A terminal that wraps lines
    /// again would take the two lines of a wrap for one, which an inserted line prevents in most of
    /// them; in the others, a wider window brings the earlier text onto the cursor's line.
    private static func newLine(columns: Int) -> String {
        String(repeating: " ", count: columns) + "\r\u{1B}[L"
    }
}
