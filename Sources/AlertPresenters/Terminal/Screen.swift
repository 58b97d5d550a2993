import Synchronization

/// The lines that an alert takes on a terminal, below what was there before.
///
/// It moves the cursor only within its own lines, so that the text above stays. It uses the
/// sequences CUU, ED and EL of ECMA-48, and xterm's private modes.
final class Screen: Sendable {
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
    func show(_ lines: [StyledLine], size: Terminal.Size) {
        drawn.withLock { drawn in
            var bytes: String
            if let before = drawn {
                guard before.isStale || before.lines != lines || before.size != size else { return }
                guard terminal.isDrained else { return }
                bytes = Self.toTop(of: before, columns: size.columns)
            } else {
                bytes = Self.enterSequence(columns: size.columns)
            }
            bytes += body(lines)
            drawn = Drawn(lines: lines, size: size)
            terminal.write(bytes)
        }
    }

    /// Has the next call of ``show(_:size:)`` draw everything again, even if nothing differs.
    func invalidate() {
        drawn.withLock { $0?.isStale = true }
    }

    /// Takes the lines off the screen; the cursor is then where the first of them began.
    func clear() {
        drawn.withLock { drawn in
            guard let before = drawn else { return }
            let columns = terminal.size.columns
            terminal.write(
                Self.toTop(of: before, columns: columns) + "\u{1B}[J" + TerminalGuard.leaveSequence)
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
            guard let before = drawn else { return terminal.write("\r" + text + "\r\n") }
            let columns = terminal.size.columns
            terminal.write(
                Self.toTop(of: before, columns: columns) + "\u{1B}[J" + text + "\r\n"
                    + body(before.lines))
        }
    }

    /// The lines, each erased before it is written, without line wrap: where a font is wider than
    /// Unicode says, a line is cut off instead of wrapped.
    private func body(_ lines: [StyledLine]) -> String {
        "\u{1B}[?7l"
            + lines.map { "\u{1B}[2K" + $0.rendered(hasColours: hasColours) }
            .joined(separator: "\r\n")
            + "\u{1B}[J\u{1B}[?7h"
    }

    /// Begins a new line unless the cursor is at the beginning of one, hides the cursor, and turns
    /// on bracketed paste.
    private static func enterSequence(columns: Int) -> String {
        // The spaces fill an empty line except for its last column, or wrap after other text.
        String(repeating: " ", count: max(0, columns - 1)) + "\r\u{1B}[?25l\u{1B}[?2004h"
    }

    /// Moves to the first column of the first line.
    ///
    /// Most terminals rewrap the lines when they become narrower.
    private static func toTop(of drawn: Drawn, columns: Int) -> String {
        let rows = drawn.lines.reduce(0) { rows, line in
            rows + max(1, (line.width + columns - 1) / max(1, columns))
        }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }
}
