import Dispatch
import Glibc
import Linux

/// The keyboard of a terminal on which nothing is shown: keys are not echoed and do nothing, but for
/// those that send a signal, and perhaps Enter.
final class IdleKeyboard: Sendable {
    private let terminal: Terminal
    private let mode: KeyMode
    private let cancel: @Sendable () -> Void

    /// - Parameter entered: Called once, when Enter is pressed.
    /// - Throws: ``TerminalError``, as in the background.
    init(
        _ terminal: Terminal, entered: (@Sendable () -> Void)? = nil
    ) throws(TerminalError) {
        guard terminal.isInForeground else { throw .inBackground(device: terminal.device) }
        self.terminal = terminal
        mode = try KeyMode(terminal, hasScreen: false)
        let descriptor = terminal.descriptor
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor.raw, queue: terminal.queue)
        // Sources are not Sendable, but any thread may cancel one: dispatch_source_cancel(3).
        nonisolated(unsafe) let reading = source
        cancel = { reading.cancel() }
        var parser = KeyParser()
        var entered = entered
        source.setEventHandler { [weak terminal] in
            // Reading from the background would stop the process.
            guard let terminal, terminal.isInForeground else { return reading.cancel() }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(descriptor.raw, &bytes, bytes.count)
            guard count > 0 else {
                if count == 0 || (errno != EAGAIN && errno != EINTR) { reading.cancel() }
                return
            }
            for key in parser.keys(from: bytes[..<count]) {
                switch key {
                case .signal(let signal): terminal.send(signal: signal)
                case .enter:
                    entered?()
                    entered = nil
                default: break
                }
            }
        }
        // The descriptor must not be closed while the source uses it.
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        source.resume()
    }

    /// Gives the keyboard back.
    func stop() {
        cancel()
        // What was typed unseen is not for whoever reads next.
        if terminal.isInForeground { TypedInput.discard(from: terminal.descriptor.raw) }
        mode.leave(terminal)
    }
}

/// Whether the keyboard is taken while nothing is shown.
struct Idle {
    private var isWanted = false
    var isShowing = false
    private var entered: (@Sendable () -> Void)?
    private var keyboard: IdleKeyboard?

    /// Wants the keyboard from now on; a press of Enter counts again.
    mutating func start(_ terminal: Terminal, _ entered: (@Sendable () -> Void)?) {
        stop(terminal)
        isWanted = true
        self.entered = entered
        update(terminal)
    }

    mutating func stop(_ terminal: Terminal) {
        isWanted = false
        update(terminal)
    }

    /// Takes the keyboard, or gives it back.
    mutating func update(_ terminal: Terminal) {
        if isWanted, !isShowing {
            if keyboard == nil { keyboard = try? IdleKeyboard(terminal, entered: entered) }
        } else {
            keyboard?.stop()
            keyboard = nil
        }
    }
}
