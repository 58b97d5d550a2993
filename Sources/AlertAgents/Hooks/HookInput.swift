import AlertQueue
import Glibc
import TextFormats

/// The standard input of a hook.
enum HookInput {
    /// How long an agent may take to write a message, which is not part of the wait.
    static let limit = Duration.seconds(10)
    /// How much one message may hold, in bytes: the whole input of a tool, and what it has printed.
    static let maximumSize = 16 << 20
    /// How often the end of the wait and signals are looked for.
    private static let pauseMilliseconds: Int32 = 100

    /// Reads what the agent sends, up to the end of one JSON object: some keep the stream open.
    ///
    /// It keeps one byte more than the limit, as a mark that it was exceeded. The rest of such a
    /// text is read too: an agent that can't write all of it may take that for a failure of the
    /// hook, and go on.
    ///
    /// - Parameters:
    ///   - bytes: Gets what the agent sends, as far as it has come.
    ///   - ending: The signal that has asked the process to end, if one has.
    /// - Throws: ``HookFailure`` if it does not end within the limit, or a signal comes first.
    static func read(
        _ descriptor: Int32, into bytes: inout [UInt8], within limit: Duration,
        ending: () -> Int32?
    ) throws(HookFailure) {
        let end = ContinuousClock.now + limit
        var object = ObjectEnd()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var isFirst = true
        while true {
            if let signal = ending() { throw .ended(.signal(signal), nil) }
            // What is there already is read, however late this process is.
            guard ContinuousClock.now < end || isFirst else {
                throw .unreadable(UnreadableText("stdin has not ended"))
            }
            isFirst = false
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // A read could block unless there is something to read, whatever a signal interrupts.
            guard poll(&request, 1, pauseMilliseconds) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return }
            if count > 0 {
                bytes += buffer[..<min(count, maximumSize + 1 - bytes.count)]
                let isWhole = buffer.withUnsafeBufferPointer {
                    object.take(UnsafeBufferPointer(rebasing: $0[..<count]))
                }
                if isWhole { return }
            } else if errno != EINTR, errno != EAGAIN {
                let reason = String(cString: strerror(errno))
                throw .unreadable(UnreadableText("can't read stdin: \(reason)"))
            }
        }
    }
}

/// Finds the end of a text's only object, without reading what is in it.
private struct ObjectEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Takes the next bytes; returns whether the object ends in them.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isEscaped {
                isEscaped = false
            } else if isInString {
                // A quotation mark or a backslash.
                if byte == 0x22 { isInString = false } else if byte == 0x5C { isEscaped = true }
            } else if byte == 0x22 {
                isInString = true
            } else if byte == 0x7B || byte == 0x5B {
                depth += 1
            } else if byte == 0x7D || byte == 0x5D {
                depth -= 1
                if depth <= 0 { return true }
            }
        }
        return false
    }
}
