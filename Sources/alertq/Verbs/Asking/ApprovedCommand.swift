import AlertPresenters
import AlertQueue
import Glibc
import Linux
import TextFormats

/// A command as people see it before they allow it, and as it runs.
struct ApprovedCommand: Sendable {
    let words: [String]
    /// The program's file, with symbolic links followed: what people are shown, and what is started,
    /// even if a link is moved meanwhile.
    let path: String
    let directory: String
    let account = Account.current
    let host = ProcessIdentity.current.host

    /// Finds the program, as the process that would run it now.
    init(_ words: [String]) throws(CommandError) {
        guard let path = ProgramSearch.path(of: words[0]) else {
            let place = words[0].unicodeScalars.contains("/") ? "" : " in $PATH"
            throw CommandError(
                .notFound, "there is no program “\(words[0])”\(place) that may be executed")
        }
        guard let file = realpath(path, nil) else {
            throw CommandError(.inputOutput, "\(LinuxError.current("resolve \(path)"))")
        }
        defer { free(file) }
        guard let directory = getcwd(nil, 0) else {
            let reason = String(cString: strerror(errno))
            throw CommandError(.inputOutput, "the working directory is not known: \(reason)")
        }
        defer { free(directory) }
        guard let text = String(validatingCString: directory) else {
            throw CommandError(.badData, "the working directory's name is not valid UTF-8")
        }
        guard let name = String(validatingCString: file) else {
            throw CommandError(.badData, "the name of the program's file is not valid UTF-8")
        }
        self.words = words
        self.path = name
        self.directory = text
    }

    /// All that is allowed, and nothing in it can be hidden.
    var description: String {
        """
        Command: \(ShellText.line(words))
        Program: \(ShellText.quoted(path))
        Directory: \(ShellText.quoted(directory))
        User: \(account.label) on \(host)
        """
    }

    /// What must be the same for an answer to allow it.
    var parts: [String] {
        [path, directory, "\(account.uid)", host, "\(words.count)"]
            + words
    }

    /// Starts it with this process's standard streams.
    ///
    /// - Parameter signals: The signals that this process handles, and that the command does not
    ///   ignore.
    func start(
        signals: [Int32], variables: [(name: String, value: String)]
    ) throws(LinuxError) -> ChildProcess {
        var start = ProgramStart(
            words, input: .inherited, output: .inherited, errors: .inherited)
        // Its descriptor would be surer still, but scripts and ps(1) would see /dev/fd as its name.
        start.path = path
        start.signals = signals + [SIGPIPE, SIGXFSZ]
        start.variables = variables
        start.removedVariables = ProgramStart.answerVariables
        return try ChildProcess(start)
    }

    /// Checks that the same words still run the same file in the same directory.
    func checkIsUnchanged() throws {
        let now = try ApprovedCommand(words)
        guard now.path.isIdentical(to: path), now.directory.isIdentical(to: directory) else {
            throw CommandError(
                .conflict,
                "the command has changed since it was asked about: it would run "
                    + "\(ShellText.quoted(now.path)) in \(ShellText.quoted(now.directory)) now")
        }
    }
}
