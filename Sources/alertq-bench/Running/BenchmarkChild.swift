import Glibc
import Linux

/// A child process, whose standard input and output are connected to this process.
final class BenchmarkChild {
    let pid: pid_t
    private let input: Descriptor
    private let output: Descriptor
    private var buffered: [UInt8] = []
    private var isReaped = false

    /// The path of this running program, for children that do a part of a benchmark.
    static let ownPath = "/proc/\(getpid())/exe"

    /// Starts this program in a hidden mode; see ``ChildMode``.
    convenience init(_ mode: ChildMode, _ arguments: String...) throws {
        try self.init(Self.ownPath, [ChildMode.option, mode.rawValue] + arguments)
    }

    /// Starts a program.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws {
        do {
            let (input, output) = (try Pipe(waits: true), try Pipe(waits: true))
            var start = ProgramStart(
                [program] + arguments, input: .descriptor(input.reading.raw),
                output: .descriptor(output.writing.raw), errors: .inherited)
            start.variables = environment.map { ($0.key, $0.value) }
            pid = try start.start()
            (self.input, self.output) = (input.writing, output.reading)
        } catch {
            throw BenchmarkError("\(error)")
        }
    }

    deinit {
        guard !isReaped else { return }
        kill(pid, SIGKILL)
        _ = wait()
    }

    /// Writes a line that the process waits for.
    func go() {
        let line = Array("go\n".utf8)
        write(input.raw, line, line.count)
    }

    /// The next line of its output, or `nil` after the last one.
    func line() -> String? {
        while true {
            if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffered[..<end], as: UTF8.self)
                buffered.removeSubrange(...end)
                return line
            }
            guard let bytes = output.read(), !bytes.isEmpty else { return nil }
            buffered += bytes
        }
    }

    /// The numbers in its remaining output, one per line.
    func numbers() -> [Double] {
        var numbers: [Double] = []
        while let line = line() {
            if let number = Double(line) { numbers.append(number) }
        }
        return numbers
    }

    /// Waits for it to end; returns its exit code, or 128 and the signal that ended it.
    @discardableResult
    func wait() -> Int32 {
        let status = WaitStatus.reap(pid)
        isReaped = true
        return status?.shellCode ?? 0
    }
}
