import Glibc

/// The standard input of a hook.
enum HookInput {
    /// How long an agent may take to write its request, which is not part of the wait.
    static let limit = Duration.seconds(10)
    /// How often the end of the wait and signals are looked for.
    private static let pauseMilliseconds: Int32 = 100

    /// Reads what the agent sends, to its end, and keeps one byte more than the limit, as a mark
    /// that it was exceeded.
    ///
    /// The rest of such a text is read too: an agent that can't write all of it may take that for
    /// a failure of the hook, and go on.
    ///
    /// - Throws: ``HookFailure`` if it does not end within the limit, or a signal comes first.
    static func read(
        _ descriptor: Int32, within limit: Duration, _ signals: SignalWatch
    ) throws(HookFailure) -> [UInt8] {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let signal = signals.end { throw .interrupted(signal, nil) }
            guard ContinuousClock.now < end else {
                throw .unreadable(CommandError(.badData, "stdin has not ended"))
            }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // A read could block unless there is something to read, whatever a signal interrupts.
            guard poll(&request, 1, pauseMilliseconds) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer[..<min(count, HookRequest.maximumSize + 1 - bytes.count)]
            } else if errno != EINTR, errno != EAGAIN {
                let reason = String(cString: strerror(errno))
                throw .unreadable(CommandError(.inputOutput, "can't read stdin: \(reason)"))
            }
        }
    }
}
