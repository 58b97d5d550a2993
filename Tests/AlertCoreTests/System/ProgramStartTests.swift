import Glibc
import TestSupport
import Testing

@testable import Linux

@Suite("Program start", .inParallel)
struct ProgramStartTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = try folder.script("run", "exit 3")
    }

    /// What starting the program returns while it is being written until a number of pauses.
    private func start(closingAfter count: Int) throws -> (code: Int32, pauses: Int) {
        var writer = Optional(try Descriptor(open(path, O_WRONLY | O_CLOEXEC), "open a script"))
        var pauses = 0
        var process = pid_t()
        let code = ProgramStart.patiently {
            pauses += 1
            if pauses == count { writer = nil }
        } _: {
            var words: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
            defer { free(words[0]) }
            return posix_spawn(&process, path, nil, nil, &words, environ)
        }
        withExtendedLifetime(writer) {}
        if code == 0 { #expect(WaitStatus.reap(process)?.exitCode == 3) }
        return (code, pauses)
    }

    @Test("A program whose file is still being written is started once it is closed")
    func written() throws {
        let (code, pauses) = try start(closingAfter: 3)
        // Another test's child may have the descriptor for a moment longer.
        #expect(code == 0 && (3...10).contains(pauses))
    }

    @Test("Of a process that somebody else has reaped, no exit code is known")
    func reaped() {
        let status = WaitStatus.reap(getpid())
        #expect(status != nil && status?.exitCode == nil && status?.signal == nil)
    }

    @Test("A program whose file stays open for writing is refused after ten more tries")
    func unfinished() throws {
        let (code, pauses) = try start(closingAfter: 100)
        #expect(code == ETXTBSY && pauses == 10)
    }
}
