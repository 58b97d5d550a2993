import CLinux
import Dispatch
import Glibc
import Linux

/// A group of processes that ends when it goes out of scope, or when this process dies.
///
/// Its leader is a small shell, the keeper, which reads from a pipe that only this process can
/// write to. However this process ends, even by SIGKILL, the pipe is closed, and the keeper then
/// runs the rest of its script. A program is in the group from its first instruction on, because
/// the keeper starts before it: at no moment could it be left running. See setpgid(2).
struct ProcessGroup: ~Copyable {
    /// The keeper's script for programs: SIGTERM, then SIGKILL for a process that takes longer than
    /// a second. SIGCONT wakes a stopped process, which could not end otherwise.
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
    /// - Parameter script: The shell script that it runs, which ignores the signals that a terminal
    ///   sends; its input ends with this process.
    init(keeping script: String = ProcessGroup.killing) throws(LinuxError) {
        let pipe = try Pipe(waits: true)
        var shell = ProgramStart(
            ["/bin/sh", "-c", script], input: .descriptor(pipe.reading.raw), output: .nothing,
            errors: .nothing)
        shell.group = 0
        // One may come before the script ignores them.
        shell.blocked = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP]
        let id = try shell.start()
        keeper = try Self.watch(id)
        self.id = id
        lifeline = pipe.writing
    }

    deinit {
        kill(-id, SIGKILL)
        _ = WaitStatus.reap(id)
    }

    /// Starts a program in the group.
    ///
    /// - Parameter variables: What its environment has instead of ours; `nil` for what it lacks.
    borrowing func start(
        _ words: [String], variables: [String: String?], input: Descriptor, output: Pipe,
        errors: Pipe
    ) throws(LinuxError) -> pid_t {
        var program = ProgramStart(
            words, input: .descriptor(input.raw), output: .descriptor(output.writing.raw),
            errors: .descriptor(errors.writing.raw))
        program.group = id
        for (name, value) in variables {
            if let value {
                program.variables.append((name, value))
            } else {
                program.removedVariables.append(name)
            }
        }
        return try program.start()
    }

    /// Writes a line to the keeper.
    borrowing func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // The keeper may have been killed: SIGPIPE must not end this process then.
        SignalBlock.run([SIGPIPE]) {
            _ = write(lifeline.raw, bytes, bytes.count)
        }
    }

    /// Sends a signal to every process of the group; the keeper ignores those that ask it to end.
    borrowing func signal(_ number: Int32) {
        kill(-id, number)
    }

    /// A descriptor that becomes readable when a child ends; the child is killed if there is none.
    static func watch(_ process: pid_t) throws(LinuxError) -> Descriptor {
        do {
            return try Descriptor(clinux_process_descriptor(process), "watch a program")
        } catch {
            kill(process, SIGKILL)
            _ = WaitStatus.reap(process)
            throw error
        }
    }

    /// Reaps a child that has been killed, waiting only a moment: the kernel can't end a process
    /// that waits for a device or a file server.
    static func reapSoon(_ process: pid_t, _ handle: Descriptor) {
        var wait = pollfd(fd: handle.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&wait, 1, 200)
        guard WaitStatus.reap(process, WNOHANG) == nil else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: handle.raw, queue: .global())
        source.setEventHandler {
            _ = WaitStatus.reap(process, WNOHANG)
            source.cancel()
        }
        // The descriptor must not be closed while the source uses it.
        source.setCancelHandler { withExtendedLifetime(handle) {} }
        source.activate()
    }
}
