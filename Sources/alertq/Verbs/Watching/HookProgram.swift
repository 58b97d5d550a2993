import AlertQueue
import Glibc
import Linux

/// A program that is run for each response or question, with the alert's JSON line on its stdin.
struct HookProgram: Sendable {
    /// How a run ended.
    enum End: Sendable, Hashable {
        case exited(Int32)
        case killed(Int32)
        case tookTooLong
        case notStarted(String)
        /// It has ended, but how is not known.
        case unknown
    }

    /// What is given to one run.
    struct Input: Sendable {
        /// What the program reads from its stdin.
        var text: String
        var variables: [(name: String, value: String)]
        /// A descriptor that the program keeps open, with the lock that belongs to it.
        var kept: Int32?
    }

    let words: [String]
    /// How long a run may take.
    let limit: Duration
    /// Whether the program's stdout is ours, or else our stderr.
    let sharesOutput: Bool
    /// The signals that this process watches, and that the program inherits unwatched.
    let signals: [Int32]

    /// Runs the program to its end; when the task is cancelled, the program is asked to end too.
    func run(_ input: Input) async -> End {
        let run: HookRun
        do {
            run = try HookRun(self, input)
        } catch {
            return .notStarted(error.description)
        }
        let watchdog = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return false }
            return await run.stop()
        }
        let end = await withTaskCancellationHandler {
            await run.end()
        } onCancel: {
            Task.detached { await run.stop() }
        }
        watchdog.cancel()
        return await watchdog.value ? .tookTooLong : end
    }
}

extension ProgramStart {
    /// The variables that tell a program of an answer. One that is not given some of them must not
    /// inherit those of another answer, for which this process may itself have been started.
    static let answerVariables = ["ALERT", "BUTTON", "KEY", "NOTE", "OUTCOME", "VALUES"]
        .map { "ALERTQ_" + $0 }
}

extension HookProgram.Input {
    /// - Throws: The error of ``AlertJSON/line(_:)``.
    init(of record: AlertRecord, in manager: AlertManager, kept: Int32? = nil) throws {
        text = try AlertJSON.line(record) + "\n"
        variables = [
            ("ALERTQ_DATABASE", QueueChoice.absolute(manager.path)),
            ("ALERTQ_ALERT", "\(record.id)"), ("ALERTQ_KEY", record.alert.key ?? ""),
            ("ALERTQ_OUTCOME", record.response?.outcome.rawValue ?? ""),
            ("ALERTQ_BUTTON", record.response?.button?.id ?? ""),
            ("ALERTQ_NOTE", record.response?.note ?? ""),
        ]
        // Linux allows 128 KiB for a variable; see execve(2). The line has them all.
        let values = record.response?.input.text(for: record.alert.fields) ?? "{}"
        if values.utf8.count <= 64 << 10 { variables.append(("ALERTQ_VALUES", values)) }
        self.kept = kept
    }
}

extension HookProgram.End {
    /// How it ended, as the end of a sentence.
    var text: String {
        switch self {
        case .exited(let code): "exited with \(code)"
        case .killed(let signal): "was ended by signal \(signal)"
        case .tookTooLong: "took too long and was ended"
        case .notStarted(let reason): "could not be started (\(reason))"
        case .unknown: "has ended, but its exit status is not known"
        }
    }
}

/// One run of a program, which leads a process group of its own.
private final class HookRun: Sendable {
    /// How long a program that was asked to end has for that.
    private static let grace = Duration.seconds(10)

    private let child: ChildProcess

    /// Starts the program.
    init(_ program: HookProgram, _ input: HookProgram.Input) throws(LinuxError) {
        // A file never waits for its reader, unlike a pipe.
        let text = try Descriptor.holding(input.text.utf8, name: "alert")
        var start = ProgramStart(
            program.words, input: .descriptor(text.raw),
            output: program.sharesOutput ? .inherited : .descriptor(STDERR_FILENO),
            errors: .inherited)
        start.group = 0
        // The lock lasts for as long as the program, even if this process ends.
        start.kept = input.kept
        start.variables = input.variables
        start.removedVariables = ProgramStart.answerVariables
        // What was ignored when this process started stays so, as nohup(1) wants.
        start.signals = program.signals + [SIGPIPE, SIGXFSZ]
        child = try ChildProcess(start)
    }

    /// Waits for the program to end.
    func end() async -> HookProgram.End {
        guard let status = await child.end() else { return .unknown }
        if let signal = status.signal { return .killed(signal) }
        return status.exitCode.map { .exited($0) } ?? .unknown
    }

    /// Asks the program and its children to end, and ends them if they don't; returns whether they
    /// had to be asked.
    @discardableResult
    func stop() async -> Bool {
        guard child.signalGroup(SIGTERM) else { return false }
        // A stopped process can't end.
        child.signalGroup(SIGCONT)
        let limit = ContinuousClock.now + Self.grace
        while ContinuousClock.now < limit, child.isRunning {
            // A cancelled sleep ends at once: by then the program has ended.
            try? await Task.sleep(for: .milliseconds(20))
        }
        child.signalGroup(SIGKILL)
        return true
    }
}
