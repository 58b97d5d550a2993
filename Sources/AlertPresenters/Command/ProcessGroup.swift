import AlertQueue
import CLinux
import Dispatch
import Glibc

/// A group of processes that ends when it goes out of scope, or when this process dies.
///
/// Its leader is a small shell, the keeper, that reads from a pipe which only this process can
/// write to. However this process ends, SIGKILL included, the pipe then ends too, and the keeper
/// does what it was told to do. A program is in the group from its first instruction on, because
/// the keeper is there before it: there is no moment at which it could be left behind. See
/// setpgid(2).
struct ProcessGroup: ~Copyable {
    /// What a keeper does for programs: SIGTERM, and SIGKILL for what takes longer than a second.
    /// SIGCONT wakes what is stopped, which could not end otherwise.
    static let killing = """
        PATH=/usr/bin:/bin; trap '' HUP INT QUIT TERM TSTP; read -r _
        kill -TERM 0; kill -CONT 0; sleep 1; kill -KILL 0
        """

    /// The id of the group and of the keeper.
    let id: pid_t
    /// Readable once the keeper has ended; see pidfd_open(2).
    let keeper: Descriptor
    private let lifeline: Descriptor

    /// Starts the keeper.
    ///
    /// - Parameter keeping: The shell script that it runs; its input ends with this process.
    init(keeping script: String = ProcessGroup.killing) throws(ProgramError) {
        let pipe = try Pipe()
        // The keeper has to wait, not to be told that there is nothing yet.
        _ = fcntl(pipe.reading.number, F_SETFL, 0)
        let id = try ProgramStart(
            ["/bin/sh", "-c", script], input: pipe.reading.number, output: nil, errors: nil
        ).start()
        keeper = try Self.watch(id)
        self.id = id
        lifeline = pipe.writing
    }

    deinit {
        kill(-id, SIGKILL)
        _ = Self.reap(id, 0)
    }

    /// Starts a program in the group.
    borrowing func start(
        _ words: [String], input: Int32, output: Int32, errors: Int32
    ) throws(ProgramError) -> pid_t {
        var program = ProgramStart(words, input: input, output: output, errors: errors)
        program.group = id
        return try program.start()
    }

    /// Writes a line to the keeper.
    borrowing func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // The keeper may have been killed; a signal must not end this process for that.
        SignalBlock.run([SIGPIPE]) {
            _ = write(lifeline.number, bytes, bytes.count)
        }
    }

    /// Sends a signal to every process of the group; the keeper ignores all that ask it to end.
    borrowing func signal(_ number: Int32) {
        kill(-id, number)
    }

    /// Something to wait with for the end of a child, which is ended if there is nothing.
    static func watch(_ process: pid_t) throws(ProgramError) -> Descriptor {
        let number = clinux_process_descriptor(process)
        guard number < 0 else { return Descriptor(owning: number) }
        let code = errno
        kill(process, SIGKILL)
        _ = reap(process, 0)
        throw ProgramError("watch a program", code: code)
    }

    /// The status of an ended process as waitpid(2) tells it; `nil` while it runs.
    ///
    /// Where the host program has its children reaped by the system, the status is 0.
    static func reap(_ process: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, options)
            if found == process { return status }
            if found == 0 { return nil }
            if errno != EINTR { return 0 }
        }
    }

    /// Reaps a child that has been killed; waits for that only a moment, because the kernel can't
    /// end a process that waits for a device or a file server.
    static func reapSoon(_ process: pid_t, _ handle: borrowing Descriptor) {
        var wait = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&wait, 1, 200)
        guard reap(process, WNOHANG) == nil else { return }
        let number = fcntl(handle.number, F_DUPFD_CLOEXEC, 0)
        // Without a descriptor to be had, it is left to the end of this process.
        guard number >= 0 else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: .global())
        source.setEventHandler {
            _ = reap(process, WNOHANG)
            source.cancel()
        }
        source.setCancelHandler { close(number) }
        source.activate()
    }
}
