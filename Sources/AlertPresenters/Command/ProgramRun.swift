import Glibc
import Linux

/// A run of another program, from its start to the end of all its processes.
struct ProgramRun: ~Copyable {
    /// Longer than any values of fields and a note, with each of their characters escaped.
    static let outputLimitBytes = 256 << 10
    /// How long a program may go on after it has printed a line. Including the time that it takes
    /// to end it, its choice counts at most two seconds after the line.
    private static let endingMilliseconds: Int64 = 1500
    /// How long it may take to end after SIGTERM; the manager gives a presenter two seconds.
    private static let stoppingMilliseconds: Int64 = 1000

    private let group: ProcessGroup
    private let loan: TerminalLoan?
    private let process: pid_t
    private let handle: Descriptor
    private let output: Descriptor
    private let errors: Descriptor
    private var printed: [UInt8] = []
    private var complaint: [UInt8] = []
    private var errorsAreOpen = true
    private var outputIsOpen = true
    /// When it began to write, or else ended, and how long it had computed until then, or waited
    /// for a processor.
    private(set) var act: (time: ContinuousClock.Instant, busy: Duration)?
    /// Whether a line feed at the end of what it prints is a part of that.
    private let printsExactly: Bool
    /// The status of the program once it has been reaped.
    private var status: WaitStatus?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - input: What it reads from its standard input.
    ///   - variables: What its environment has instead of ours; `nil` for what it lacks.
    ///   - usesTerminal: Whether it gets the terminal, if this process has one.
    ///   - printsExactly: Whether a line feed at the end of what it prints is a part of that.
    init(
        _ words: [String], input: String = "", variables: [String: String?] = [:],
        usesTerminal: Bool = false, printsExactly: Bool = false
    ) throws(LinuxError) {
        self.printsExactly = printsExactly
        let group = try ProcessGroup()
        let loan = usesTerminal ? TerminalLoan(to: group.id) : nil
        let file = try Descriptor.holding(input.utf8, name: "alert")
        let output = try Pipe()
        let errors = try Pipe()
        let process = try group.start(
            words, variables: variables, input: file, output: output, errors: errors)
        handle = try ProcessGroup.watch(process)
        self.process = process
        self.group = group
        self.loan = loan
        self.output = output.reading
        self.errors = errors.reading
    }

    deinit {
        signal(SIGKILL)
        if status == nil { ProcessGroup.reapSoon(process, handle) }
    }

    /// What the program wrote to its standard error, on one line.
    var complaints: String {
        String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
            .joined(separator: "; ")
    }

    /// Waits for the program to end, and ends it once the switch is thrown.
    mutating func finish(_ stop: StopSwitch) -> ProgramEnd {
        var deadline: Int64?
        while true {
            var waits = [
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: handle.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: outputIsOpen ? output.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errorsAreOpen ? errors.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: group.keeper.raw, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waits, nfds_t(waits.count), timeout(until: deadline))
            if waits[0].revents != 0 { return end() }
            collect()
            if printed.count > Self.outputLimitBytes {
                return .failed("wrote more than \(Self.outputLimitBytes) bytes")
            }
            if waits[1].revents != 0 { return ended() }
            // Nothing would end the program if this process were killed now.
            if waits[4].revents != 0 { return .failed("lost the process that watches it") }
            if let deadline, Self.now() >= deadline { return reply(code: 0) }
            if deadline == nil, !printsExactly, printed.contains(UInt8(ascii: "\n")) {
                deadline = Self.now() + Self.endingMilliseconds
            }
            if loan != nil { passStopOn() }
        }
    }

    /// The time until the deadline, or until the next check of a program that Ctrl-Z can stop.
    private borrowing func timeout(until deadline: Int64?) -> Int32 {
        let limit = deadline.map { max(0, $0 - Self.now()) }
        guard loan != nil else { return limit.map { Int32($0) } ?? -1 }
        return Int32(min(limit ?? 200, 200))
    }

    private mutating func collect() {
        while outputIsOpen, printed.count <= Self.outputLimitBytes, let bytes = output.read() {
            outputIsOpen = !bytes.isEmpty
            printed += bytes
        }
        if !printed.isEmpty { noteAct() }
        // A flood is read as it comes, but not kept.
        for _ in 0..<16 where errorsAreOpen {
            guard let bytes = errors.read() else { return }
            errorsAreOpen = !bytes.isEmpty
            complaint += bytes.prefix(max(0, 1024 - complaint.count))
        }
    }

    /// Notes that it has written, or ended. See "schedstat" in proc(5).
    private mutating func noteAct() {
        guard act == nil else { return }
        let statistics = LinuxFile.text("/proc/\(process)/schedstat") ?? ""
        let nanoseconds = statistics.split(separator: " ").prefix(2).compactMap { Int64($0) }
        act = (.now, .nanoseconds(nanoseconds.reduce(0, +)))
    }

    private mutating func ended() -> ProgramEnd {
        collect()
        noteAct()
        // Processes that it leaves running are killed with it.
        if self.status == nil { kill(-process, SIGKILL) }
        let status = self.status ?? WaitStatus.reap(process)
        self.status = status
        if let number = status?.signal {
            // Ctrl-C, Ctrl-\ and a hang-up were meant for this process, which had lent the terminal.
            if loan != nil, [SIGINT, SIGQUIT, SIGHUP].contains(number) { kill(getpid(), number) }
            return .failed("was ended by signal \(number)")
        }
        guard let code = status?.exitCode else {
            return .failed("has ended, but this process lets the system reap its children")
        }
        return reply(code: code)
    }

    private borrowing func reply(code: Int32) -> ProgramEnd {
        guard printed.count <= Self.outputLimitBytes else {
            return .failed("wrote more than \(Self.outputLimitBytes) bytes")
        }
        let endsLine = !printsExactly && printed.last == UInt8(ascii: "\n")
        let bytes = endsLine ? printed.dropLast() : printed[...]
        guard !bytes.isEmpty else { return .silent(code: code) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failed("wrote something that is not UTF-8")
        }
        return .replied(text, code: code)
    }

    /// Asks the program to end; if it takes too long, it is killed when the run goes out of scope.
    private borrowing func end() -> ProgramEnd {
        signal(SIGTERM)
        // A stopped process can't end.
        signal(SIGCONT)
        let deadline = Self.now() + Self.stoppingMilliseconds
        var wait = pollfd(fd: handle.raw, events: Int16(POLLIN), revents: 0)
        while wait.revents == 0, Self.now() < deadline {
            _ = poll(&wait, 1, Int32(max(0, deadline - Self.now())))
        }
        return .stopped
    }

    /// Sends a signal to the group, and to a program that has left it together with the group that
    /// it leads now; see setsid(2).
    private borrowing func signal(_ number: Int32) {
        group.signal(number)
        // Until it is reaped, no other process or group can have its number.
        guard status == nil, kill(-process, number) != 0 else { return }
        if getpgid(process) != group.id { kill(process, number) }
    }

    /// Stops this process, too, after Ctrl-Z: it had lent the terminal. See waitpid(2).
    private mutating func passStopOn() {
        guard status == nil, let seen = WaitStatus.reap(process, WNOHANG | WUNTRACED) else {
            return
        }
        if seen.isStopped { kill(getpid(), SIGTSTP) } else { status = seen }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
