import Glibc

/// A process of its own, with its standard input and output in this one's hands.
final class ChildProcess {
    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var buffered: [UInt8] = []
    private var isReaped = false

    /// The program that runs now, for children that do a part of a benchmark.
    static let ownPath = "/proc/\(getpid())/exe"

    /// Starts this program in a hidden mode; see ``ChildMode``.
    convenience init(_ mode: ChildMode, _ arguments: String...) throws {
        try self.init(Self.ownPath, [ChildMode.option, mode.rawValue] + arguments)
    }

    /// Starts a program.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws {
        var (toChild, fromChild): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw BenchmarkError("no pipe for \(program)")
        }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO)
        for (name, value) in environment { setenv(name, value, 1) }
        let words: [UnsafeMutablePointer<CChar>?] =
            ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var started = pid_t()
        let code = posix_spawnp(&started, program, &actions, nil, words, environ)
        for (name, _) in environment { unsetenv(name) }
        close(toChild[0])
        close(fromChild[1])
        (pid, input, output) = (started, toChild[1], fromChild[0])
        guard code == 0 else {
            isReaped = true
            throw BenchmarkError("can't start \(program): \(String(cString: strerror(code)))")
        }
    }

    deinit {
        close(input)
        close(output)
        if !isReaped {
            kill(pid, SIGKILL)
            _ = wait()
        }
    }

    /// Writes a line that the process waits for.
    func go() {
        let line = Array("go\n".utf8)
        write(input, line, line.count)
    }

    /// The next line of its output, or `nil` after the last one.
    func line() -> String? {
        while true {
            if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffered[..<end], as: UTF8.self)
                buffered.removeSubrange(...end)
                return line
            }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(output, &bytes, bytes.count)
            guard count > 0 else { return nil }
            buffered += bytes[..<count]
        }
    }

    /// The numbers that its remaining output consists of, one a line.
    func numbers() -> [Double] {
        var numbers: [Double] = []
        while let line = line() {
            if let number = Double(line) { numbers.append(number) }
        }
        return numbers
    }

    /// Waits for its end; returns the status of waitpid(2).
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return status
    }
}
