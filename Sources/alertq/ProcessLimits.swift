import AlertQueue
import Glibc
import Synchronization
import TextFormats

/// The resources that the process needs before it can do anything.
///
/// Dispatch ends a process that gets no descriptor, or can't read in /proc about its own threads
/// (SIGILL), and waits forever for a thread. All are checked here first, while an error can still be
/// reported.
enum ProcessLimits {
    /// A waiting `ask` has 19 open at most, a presenter two more.
    private static let descriptors = 24
    /// Address space for the stacks of the first threads, 8 MiB each, in bytes.
    private static let memory = 64 << 20
    /// How many seconds after the start threads are tried, and how many failures in a row are one
    /// too many.
    private static let (watchedSeconds, patience) = (10, 3)

    /// Ends the process with a sentence and exit code 75, or 74 without /proc, if it can't even
    /// begin.
    static func check() {
        if access("/proc/\(getpid())/stat", R_OK) != 0 {
            refuse(
                "alertq starts several threads, and they need /proc (mount -t proc proc /proc)",
                .inputOutput)
        }
        if !hasDescriptors() {
            refuse("this process may open too few files; raise its limit (ulimit -n)")
        }
        let room = mmap(nil, memory, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard room != MAP_FAILED else {
            refuse("there is too little memory to start; see ulimit -v")
        }
        munmap(room, memory)
        // By a thread of its own: Dispatch makes its callers wait until there is a thread.
        guard startThread({ _ in ProcessLimits.watch() }) else { refuseForThreads() }
    }

    /// Ends the process if it can't get under way because no threads are available.
    ///
    /// Later on, code that needs a thread waits until there is one: a question that waits for hours
    /// must not end because of a moment's shortage.
    private static func watch() -> UnsafeMutableRawPointer? {
        var misses = 0
        for _ in 0..<watchedSeconds {
            sleep(1)
            misses = startThread({ _ in nil }) ? 0 : misses + 1
            if isUnderWay.load(ordering: .relaxed) { break }
            if misses == patience { refuseForThreads() }
        }
        return nil
    }

    /// Whether the process does its work, so that nothing may end it any more.
    private static let isUnderWay = Atomic(false)

    static func endWatch() { isUnderWay.store(true, ordering: .relaxed) }

    private static func hasDescriptors() -> Bool {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        for _ in 0..<descriptors {
            let descriptor = dup(STDERR_FILENO)
            guard descriptor >= 0 else { return false }
            taken.append(descriptor)
        }
        return true
    }

    private static func startThread(
        _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        return pthread_create(&thread, &attributes, body, nil) == 0
    }

    private static func refuseForThreads() -> Never {
        refuse(
            "no more threads can be started: memory is short, or a limit is too low "
                + "(ulimit -u, ulimit -v, pids.max)")
    }

    private static func refuse(_ reason: String, _ code: ExitCode = .busy) -> Never {
        // A stderr that can't be written loses the line; the exit code remains.
        let line = TerminalCharacters().ours("alertq: \(reason)\n")
        try? Output.write(Array(line.utf8), to: STDERR_FILENO)
        _exit((Program.failure ?? code).rawValue)
    }
}
