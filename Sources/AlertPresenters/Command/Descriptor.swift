import CLinux
import Glibc

/// An open file that is closed when it goes out of scope.
package struct Descriptor: ~Copyable {
    package let number: Int32

    /// Takes over a number that a call returned, or throws what errno(3) says of the call.
    init(_ number: Int32, _ operation: String) throws(ProgramError) {
        guard number >= 0 else { throw ProgramError(operation, code: errno) }
        self.number = number
    }

    init(owning number: Int32) {
        self.number = number
    }

    deinit { close(number) }

    /// A file in memory that holds a text, to be read from its start. See memfd_create(2).
    package static func holding(_ text: String) throws(ProgramError) -> Descriptor {
        let file = try Descriptor(clinux_memory_file("alert"), "make a file in memory")
        var left = Array(text.utf8)[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ProgramError("write a file in memory", code: errno) }
            left = left.dropFirst(count)
        }
        lseek(file.number, 0, SEEK_SET)
        return file
    }

    /// What can be read now, up to 4 KiB; empty at the end, `nil` if there is nothing yet.
    borrowing func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(number, &buffer, buffer.count)
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : [] }
        return Array(buffer[..<count])
    }
}

/// Both ends of a pipe; reading never waits. See pipe(2).
struct Pipe: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(ProgramError) {
        var ends: [Int32] = [-1, -1]
        let code = clinux_pipe(&ends)
        guard code == 0 else { throw ProgramError("make a pipe", code: errno) }
        reading = Descriptor(owning: ends[0])
        writing = Descriptor(owning: ends[1])
        _ = fcntl(reading.number, F_SETFL, O_NONBLOCK)
    }
}

/// Tells a thread that waits in poll(2) to stop waiting.
final class StopSwitch: Sendable {
    private let event: Descriptor

    init() throws(ProgramError) {
        event = try Descriptor(clinux_event(), "make an event")
    }

    /// Readable once the switch has been thrown.
    var descriptor: Int32 { event.number }

    func stop() { clinux_event_ring(event.number) }

    /// Waits for it; returns whether it was thrown within a time.
    func wait(_ time: Duration) -> Bool {
        var request = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, Int32(clamping: max(0, time.milliseconds))) > 0
    }
}

/// What can go wrong with another program that shows alerts.
public enum ProgramError: Error, Sendable, Hashable {
    /// There is no such program, or it may not be executed.
    case notFound(program: String)
    /// The system refused something.
    case failed(operation: String, reason: String)
    /// The program has failed again and again.
    case unusable(program: String, reason: String)

    init(_ operation: String, code: Int32) {
        self = .failed(operation: operation, reason: String(cString: strerror(code)))
    }
}

extension ProgramError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let program):
            "there is no program “\(program)” that can be started; give a path, or a name in $PATH"
        case .failed(let operation, let reason): "can't \(operation): \(reason)"
        case .unusable(let program, let reason): "\(program) \(reason)"
        }
    }
}
