import AlertCore
import Linux
import Synchronization

/// Shows alerts through other programs, one run at a time, and tries again when one fails.
struct ProgramShow: Sendable {
    /// One way to show one alert.
    struct Attempt<Choice: Sendable>: Sendable {
        /// The program and its arguments.
        let words: [String]
        /// What it reads from its standard input.
        var input = ""
        /// What its environment has instead of ours; `nil` for what it lacks.
        var variables: [String: String?] = [:]
        var usesTerminal = false
        /// Whether a line feed at the end of what it prints is a part of that.
        var printsExactly = false
        /// The choice that a reply stands for; `nil` for a reply that means no choice.
        let choice: @Sendable (_ reply: String, _ code: Int32) -> Choice?
        /// The choice that an exit code without a reply stands for, as when a person closes the
        /// window; `nil` for a code that means no choice.
        let closed: @Sendable (_ code: Int32) -> Choice?
        /// The time before which nobody could have read the alert: an earlier choice is a failure,
        /// unless `early` makes another one of it. The time in which the program computes, or waits
        /// for a processor, doesn't count: it takes the longer to show its window.
        var tooSoon = Duration.zero
        var early: @Sendable (Choice) -> Choice? = { _ in nil }
        /// Whether a program could still show something. Programs end the same way when their
        /// screen is lost as when a person closes them.
        var isUsable: (@Sendable () -> Bool)?
    }

    /// Nobody reads an alert in less time: a program that ends sooner was not closed by a person,
    /// and has shown nothing.
    private static let readingTime = Duration.milliseconds(500)
    /// How often a program may fail before the alert is left to other presenters; a presenter whose
    /// last alert was left to others gets a single attempt.
    private static let attempts = 3

    /// How long to wait between attempts.
    static let pauses = Backoff(longest: .seconds(2))

    /// Whether the last alert was left to others.
    private final class Memory: Sendable {
        let hasFailed = Atomic(false)
    }

    let name: String
    let log: @Sendable (String) -> Void
    private let pauses: Backoff
    private let memory = Memory()

    init(
        name: String, pauses: Backoff = Self.pauses,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.name = name
        self.pauses = pauses
        self.log = log
    }

    /// Shows an alert until a person has done something about it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; ``ProgramError`` when the program
    ///   keeps failing.
    func present<Choice>(
        _ presentation: Presentation, through attempt: Attempt<Choice>
    ) async throws -> Choice {
        var (reason, wrote) = ("", String?.none)
        let attempts = memory.hasFailed.load(ordering: .relaxed) ? 1 : Self.attempts
        for failures in 0..<attempts {
            if failures > 0 {
                let pause = pauses.pause(after: failures)
                log(
                    "\(name) \(reason)\(wrote.map { " (\($0))" } ?? ""); alert \(presentation.record.id) still waits, next try in "
                        + AlertWording.duration(pause))
                try await Task.sleep(for: pause)
            }
            let (end, time, idle, complaints) = try await run(attempt, presentation)
            if Task.isCancelled, time >= Self.readingTime {
                memory.hasFailed.store(false, ordering: .relaxed)
            }
            try Task.checkCancellation()
            switch judge(end, attempt, after: time, idle) {
            case .success(let choice):
                await presentation.didAppear()
                memory.hasFailed.store(false, ordering: .relaxed)
                return choice
            case .failure(let failure):
                reason = failure.reason
                let texts = [failure.reply, complaints].compactMap { $0 }.filter { !$0.isEmpty }
                wrote = texts.isEmpty ? nil : texts.joined(separator: "; ")
            }
        }
        memory.hasFailed.store(true, ordering: .relaxed)
        throw ProgramError.unusable(program: name, reason: reason, wrote: wrote)
    }

    private func run(
        _ attempt: Attempt<some Sendable>, _ presentation: Presentation
    ) async throws -> (end: ProgramEnd, time: Duration, idle: Duration, complaints: String) {
        try await Blocking.run("alertq.program") { stop in
            let start = ContinuousClock.now
            do throws(LinuxError) {
                var run = try ProgramRun(
                    attempt.words, input: attempt.input, variables: attempt.variables,
                    usesTerminal: attempt.usesTerminal, printsExactly: attempt.printsExactly)
                let appearing = Task {
                    try await Task.sleep(for: Self.readingTime)
                    await presentation.didAppear()
                }
                defer { appearing.cancel() }
                var end = run.finish(stop)
                let act = run.act ?? (.now, .zero)
                let time = act.time - start
                if case .silent = end, attempt.isUsable?() == false {
                    end = .failed("lost its screen")
                }
                return (end, time, time - act.busy, run.complaints)
            } catch {
                return (.failed("can't be used: \(error)"), .zero, .zero, "")
            }
        }
    }

    private struct Failure: Error {
        let reason: String
        /// What the program printed, for whoever wrote the program.
        var reply: String?
    }

    private func judge<Choice>(
        _ end: ProgramEnd, _ attempt: Attempt<Choice>, after time: Duration, _ idle: Duration
    ) -> Result<Choice, Failure> {
        switch end {
        case .replied(let reply, let code):
            guard let choice = attempt.choice(reply, code) else {
                let start = String(reply.prefix(40)) + (reply.count > 40 ? "…" : "")
                return .failure(
                    Failure(
                        reason: "printed what is not a choice, and ended with exit code \(code)",
                        reply: "it printed “\(start)”"))
            }
            if idle >= attempt.tooSoon { return .success(choice) }
            return attempt.early(choice).map { .success($0) }
                ?? .failure(Failure(reason: "was answered before anybody could read it"))
        case .silent(let code): return judge(silent: code, attempt, after: time, idle)
        case .failed(let reason): return .failure(Failure(reason: reason))
        case .stopped: return .failure(Failure(reason: "was stopped"))
        }
    }

    private func judge<Choice>(
        silent code: Int32, _ attempt: Attempt<Choice>, after time: Duration, _ idle: Duration
    ) -> Result<Choice, Failure> {
        if code != 0, [126, 127].contains(code) || time < Self.readingTime {
            return .failure(Failure(reason: "ended at once, with exit code \(code)"))
        }
        guard let choice = attempt.closed(code) else {
            return .failure(Failure(reason: "failed with exit code \(code)"))
        }
        if idle >= attempt.tooSoon { return .success(choice) }
        return attempt.early(choice).map { .success($0) }
            ?? .failure(Failure(reason: "was closed before anybody could read it"))
    }
}
