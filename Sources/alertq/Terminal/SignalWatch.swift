import AlertPresenters
import CLinux
import Dispatch
import Glibc
import Synchronization

/// Turns signals into a stream, so that what they must undo is undone by ordinary code.
///
/// What the parent had ignored, as nohup(1) does with SIGHUP, stays ignored. The second signal that
/// asks the process to end does end it, at once: the first may be stuck in something.
package final class SignalWatch: Sendable {
    package static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The signals as they come, for one reader.
    package let events: AsyncStream<Int32>
    /// The signals that are watched, and were not ignored before.
    package let numbers: [Int32]
    private let sources = Mutex<[any DispatchSourceSignal]>([])

    /// Starts watching, also Ctrl-Z if `stops` is set.
    package init(stops: Bool) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        events = stream
        let queue = DispatchQueue(label: "alertq.signals")
        let handler = Handler(continuation: continuation)
        numbers = (Self.ending + (stops ? [SIGTSTP] : [])).filter { clinux_is_ignored($0) == 0 }
        for number in numbers {
            // Dispatch's handler takes the place of this once it is there.
            signal(number, SIG_IGN)
            sources.withLock { sources in
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler { handler.receive(number) }
                source.activate()
                sources.append(source)
            }
        }
    }
}

/// What happens on the queue of the signals.
private final class Handler: Sendable {
    private let endings = Mutex(0)
    private let continuation: AsyncStream<Int32>.Continuation

    init(continuation: AsyncStream<Int32>.Continuation) {
        self.continuation = continuation
    }

    func receive(_ number: Int32) {
        if SignalWatch.ending.contains(number) {
            let count = endings.withLock { count in
                count += 1
                return count
            }
            if count > 1 {
                TerminalPresenter.restore()
                Program.die(of: number)
            }
        }
        continuation.yield(number)
    }
}
