import AlertQueue
import Glibc
import TestSupport
import Testing
import TextFormats

@testable import alertq

@Suite("Results", .inParallel)
struct ResultTests {
    @Test("Each outcome has its own word and exit code")
    func outcomes() {
        let cases: [(Response, String?, ExitCode)] = [
            (Sample.response(.answered, button: 0), "yes", .done),
            (Sample.response(.answered, button: 1), "no", .cancelButton),
            (Sample.response(.answered, button: 0, by: .policy), "yes", .done),
            (Sample.response(.expired, button: -1, by: .policy), nil, .expired),
            (Sample.response(.expired, button: 0, by: .policy), "yes", .done),
            (Sample.response(.expired, button: 1, by: .policy), "no", .cancelButton),
            (Sample.response(.dismissed, button: -1), nil, .dismissed),
            (Sample.response(.withdrawn, button: -1, by: .asker), nil, .withdrawn),
            (Sample.response(.cancelled, button: 1, by: .system), nil, .cancelledBySystem),
            // A button whose texts have been erased might have been the one that means no.
            (Sample.response(.answered, button: 9), nil, .notFound),
        ]
        for (response, button, code) in cases {
            let result = AskResult(response)
            #expect(result.button == button && result.code == code, "\(response.outcome)")
        }
    }

    @Test("Each error has its exit code")
    func errors() {
        let cases: [(any Error, Int32)] = [
            (UsageError("x"), 64), (CommandError(.badData, "x"), 65),
            (OutputError(errorNumber: ENOSPC), 74), (AlertError.invalid("title", "is empty"), 65),
            (AlertError.notFound(1), 66), (AlertError.keyNotFound("k"), 66),
            (AlertError.noSuchButton(1, button: "x", known: []), 66),
            (AlertError.alreadyResolved(Sample.response()), 16),
            (AlertError.late(Sample.response(.expired, button: -1)), 16),
            (AlertError.keyConflict("k", 1, part: "title"), 16),
            (AlertError.tooManyPending(source: "s", limit: 1), 75), (AlertError.busy("x"), 75),
            (AlertError.missingLibrary("x"), 69), (AlertError.incompatible(path: "p", "x"), 74),
            (AlertError.storage(operation: "o", "x"), 74),
            (AlertError.damaged(operation: "o", "x"), 74), (AlertError.closed, 74),
            (AlertError.notPermitted(path: "p", "x"), 77),
        ]
        for (error, code) in cases { #expect(ExitCode(error).rawValue == code, "\(error)") }
    }

    @Test(
        "A quoted word survives the shell",
        arguments: [
            ("Yes", "Yes"), ("No, thanks", "'No, thanks'"), ("it's", "'it'\\''s'"), ("", "''"),
            ("$(rm)", "'$(rm)'"), ("日本", "'日本'"), ("a=b", "'a=b'"),
            ("a\nb", "$'a\\nb'"), ("it's\u{1B}[1m\\", "$'it\\'s\\033[1m\\\\'"),
            ("\u{202E}ü", "$'\\342\\200\\256\\303\\274'"),
            // A mark makes another character of a quote, but not for a shell.
            ("a'\u{301}b", "'a'\\''\u{301}b'"), ("x\u{0D4E}'y", "'x\u{0D4E}'\\''y'"),
        ])
    func quoting(word: String, quoted: String) {
        #expect(ShellText.quoted(word) == quoted)
    }

    @Test("A full disk and a reader that has gone are different failures")
    func outputErrors() throws {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let error = try #require(throws: OutputError.self) {
            try Output(descriptor: full).write("x")
        }
        #expect(!error.isBrokenPipe && ExitCode(error) == .inputOutput)
        #expect(OutputError(errorNumber: EPIPE).isBrokenPipe)
    }

    @Test("An argument that is not UTF-8 is refused with its position")
    func rawArguments() throws {
        var bytes: [CChar] = [0x61, -1, 0]
        try bytes.withUnsafeMutableBufferPointer { buffer in
            var values = [buffer.baseAddress, nil]
            let error = try #require(throws: CommandError.self) {
                try Program.decodedArguments(1, &values)
            }
            #expect(error.description == "argument 0 is not valid UTF-8")
            #expect(error.code == .badData)
        }
    }

    @Test(
        "The directory of the system queue gets its mode, even when set up again",
        .enabled(if: isRoot))
    func directory() throws {
        let path = "/tmp/alertq-setup-\(getpid())"
        defer { rmdir(path) }
        #expect(try SystemQueueSetup.prepare(path, group: getgid()))
        chmod(path, 0o700)
        #expect(try SystemQueueSetup.prepare(path, group: getgid()) == false)
        var status = stat()
        fstatat(AT_FDCWD, path, &status, 0)
        #expect(status.st_mode & 0o7777 == 0o2770)
    }

    private static let isRoot = geteuid() == 0
}
