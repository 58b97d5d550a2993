import AlertQueue
import CArguments
import CLinux
import Glibc
import Linux
import TextFormats

/// The process: its arguments, its standard streams and its end.
enum Program {
    static let version = "0.3.0"
    /// The day of this version.
    static let releaseDate = "2026-11-27"

    /// Runs the verb that the command line names, and ends the process.
    ///
    /// Work that needs no waiting is done on the process's first thread, before Dispatch starts
    /// others.
    static func main() {
        // If the reader has gone, the write fails, and the work can then be undone in order.
        signal(SIGPIPE, SIG_IGN)
        // So does a write beyond a limit on file sizes (ulimit -f), which is reported like a full
        // disk.
        signal(SIGXFSZ, SIG_IGN)
        // If it is ignored, the kernel forgets how children end; see wait(2).
        signal(SIGCHLD, SIG_DFL)
        QueueLocation.configureStores()
        let context = Context(
            output: Output(descriptor: STDOUT_FILENO), errors: Output(descriptor: STDERR_FILENO))
        do {
            let words = try decodedArguments(carguments_count(), carguments_values())
            switch try begin(Array(words.dropFirst()), in: context) {
            case .ended(let code): exit(code.rawValue)
            case .goesOn(let command, let context):
                ProcessLimits.check()
                Task.detached { await end(command, in: context) }
            }
        } catch {
            end(with: error, in: context)
        }
    }

    private static func end(_ command: any Command, in context: Context) async -> Never {
        QueueLocation.whenWaiting { context.inform("\($0); waiting until it is back") }
        do {
            exit(try await finish(command, in: context).rawValue)
        } catch {
            end(with: error, in: context)
        }
    }

    private static func end(with error: any Error, in context: Context) -> Never {
        switch error {
        case let interruption as Interruption: die(of: interruption.signal)
        case let end as CommandEnd: exit(end.status)
        case let error as OutputError where error.isBrokenPipe: die(of: SIGPIPE)
        default:
            let code = failure ?? ExitCode(error)
            context.fail(error, nil, code)
            exit(code.rawValue)
        }
    }

    /// The exit code of every failure of the verb that was typed, if it has only one.
    static var failure: ExitCode? {
        let typed = UnsafeBufferPointer(
            start: carguments_values(), count: Int(carguments_count()))
        let words = typed.dropFirst().prefix(2).compactMap { $0.map { String(cString: $0) } }
        let verb = words.first.flatMap(Verbs.named) ?? Verbs.named(words.joined(separator: " "))
        return verb?.failure
    }

    /// How far a command line gets on the calling thread.
    private enum Beginning {
        case ended(ExitCode)
        case goesOn(any Command, Context)
    }

    /// Finds the verb, parses its options and runs it; reports errors on stderr.
    static func run(_ words: [String], in context: Context) async throws -> ExitCode {
        switch try begin(words, in: context) {
        case .ended(let code): code
        case .goesOn(let command, let context): try await finish(command, in: context)
        }
    }

    private static func begin(_ words: [String], in context: Context) throws -> Beginning {
        guard let first = words.first else {
            try? context.errors.write(Help.overview(columns: context.errors.columns))
            return .ended(.usage)
        }
        switch first {
        case "--help", "-h":
            try context.output.write(Help.overview(columns: context.output.columns))
            return .ended(.done)
        case "--version":
            try context.print("alertq \(version)")
            return .ended(.done)
        default: break
        }
        // Until the words have been understood, what they look like counts.
        let context = context.with(
            isJSON: words.dropFirst().prefix { $0 != "--" }.contains("--json"))
        do {
            let (verb, rest) = try verb(words)
            guard let verb else {
                try context.output.write(
                    Help.text(forGroup: first, columns: context.output.columns))
                return .ended(.done)
            }
            return try begin(verb, rest, in: context)
        } catch let error as UsageError {
            let group = Verbs.group(first)
            let code = group.first?.failure ?? .usage
            context.fail(error, nil, code)
            hint(group.isEmpty ? "help" : "help \(first)", context)
            return .ended(code)
        }
    }

    private static func begin(
        _ verb: any Command.Type, _ words: [String], in context: Context
    ) throws -> Beginning {
        let command: any Command
        do {
            guard let parsed = try verb.parse(words) else {
                try context.output.write(Help.text(for: verb, columns: context.output.columns))
                return .ended(.done)
            }
            command = parsed
        } catch {
            let takesJSON = verb.syntax.allOptions.contains { $0.name == "json" }
            let context = context.with(isJSON: context.isJSON && takesJSON)
            return .ended(try report(error, of: verb, in: context))
        }
        let context = context.with(isUTC: command.common.isUTC).with(isJSON: command.isJSON)
        do {
            if let code = try command.runAtOnce(in: context) { return .ended(code) }
            return .goesOn(command, context)
        } catch {
            return .ended(try report(error, of: verb, in: context))
        }
    }

    private static func finish(
        _ command: any Command, in context: Context
    ) async throws -> ExitCode {
        do {
            return try await command.run(in: context)
        } catch {
            return try report(error, of: type(of: command), in: context)
        }
    }

    /// Reports why a verb failed; rethrows errors that end the process by a signal.
    private static func report(
        _ error: any Error, of verb: any Command.Type, in context: Context
    ) throws -> ExitCode {
        switch error {
        case let error as UsageError:
            let code = verb.refuse(error, in: context) ?? .usage
            context.fail(error, verb.name, code)
            hint("\(verb.name) --help", context)
            return code
        case let error as OutputError where error.isBrokenPipe: throw error
        case is Interruption, is CommandEnd: throw error
        default:
            let code = verb.refuse(error, in: context) ?? ExitCode(error)
            context.fail(error, verb.name, code)
            return code
        }
    }

    private static func hint(_ help: String, _ context: Context) {
        if !context.isJSON { try? context.errors.write("Try 'alertq \(help)'.\n") }
    }

    /// The verb that the words begin with, and what follows it; no verb for a group's help.
    private static func verb(
        _ words: [String]
    ) throws(UsageError) -> (verb: (any Command.Type)?, rest: [String]) {
        let first = words[0]
        if let verb = Verbs.named(first) { return (verb, Array(words.dropFirst())) }
        let group = Verbs.group(first)
        if !group.isEmpty {
            let actions = group.map { String($0.name.dropFirst(first.count + 1)) }
            guard words.count > 1 else {
                throw UsageError("\(first): expected one of \(actions.joined(separator: ", "))")
            }
            if ["--help", "-h"].contains(words[1]) { return (nil, []) }
            if let verb = Verbs.named("\(first) \(words[1])") {
                return (verb, Array(words.dropFirst(2)))
            }
            throw UsageError(unknown("verb", "\(first) \(words[1])", group.map { $0.name }))
        }
        guard !first.hasPrefix("-") else {
            throw UsageError("unknown option “\(first)”; options follow the verb")
        }
        throw UsageError(unknown("verb", first, Verbs.firstWords))
    }

    static func unknown(_ kind: String, _ word: String, _ known: [String]) -> String {
        "unknown \(kind) “\(word)”" + Suggestion.hint(for: word, among: known)
    }
}

extension Program {
    /// The arguments as text. Swift's own `CommandLine.arguments` repairs invalid UTF-8, and so
    /// would ask something other than what was typed.
    static func decodedArguments(
        _ count: Int32, _ values: UnsafePointer<UnsafeMutablePointer<CChar>?>?
    ) throws(CommandError) -> [String] {
        var words: [String] = []
        for (index, value) in UnsafeBufferPointer(start: values, count: Int(count)).enumerated() {
            guard let value else { break }
            guard let word = String(validatingCString: value) else {
                throw CommandError(.badData, "argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }

    /// The file of this program, for another process to run.
    static func path() throws(CommandError) -> String {
        guard let path = LinuxFile.link("/proc/self/exe") else {
            throw CommandError(.inputOutput, "can't read /proc/self/exe, which names this program")
        }
        return path
    }

    /// Opens standard streams that are closed, so that no database gets their descriptors: what is
    /// meant for a stream must never be written into a file. Using them still fails.
    static func openStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Makes all threads share one heap; see mallopt(3), `M_ARENA_MAX`.
    ///
    /// A process that runs for a few milliseconds would spend one of them on a heap for each
    /// thread.
    static func useOneHeap() {
        clinux_use_one_heap()
    }

    /// Leaves the work to other threads, and keeps this one for signals.
    ///
    /// `dispatchMain()` ends the thread first, for which a static executable sorts all its unwind
    /// tables: a verb takes three times as long. Nothing here uses the main queue, which it serves.
    static func rest() -> Never {
        var none = sigset_t()
        sigemptyset(&none)
        while true { sigsuspend(&none) }
    }

    /// Stops the process as Ctrl-Z does, and returns when it continues: at once if its process
    /// group is orphaned, because no shell could continue it, and the kernel does not stop it; see
    /// <https://pubs.opengroup.org/onlinepubs/9799919799/functions/V2_chap02.html#tag_16_04_03>.
    static func suspend() {
        var (standard, previous) = (sigaction(), sigaction())
        standard.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(SIGTSTP, &standard, &previous)
        var (stop, mask) = (sigset_t(), sigset_t())
        sigemptyset(&stop)
        sigaddset(&stop, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &stop, &mask)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        sigaction(SIGTSTP, &previous, nil)
    }

    /// Ends the process by a signal, so that its parent sees what happened; see signal(7).
    static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), number)
        // The signal may be on its way to another thread.
        usleep(100_000)
        _exit(128 + number)
    }
}
