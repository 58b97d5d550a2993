import AlertQueue
import TextFormats

/// `alertq store copy FROM TO`: moves a queue to another file or to a database server.
struct StoreCopyCommand: Command {
    static let name = "store copy"
    static let abstract = "Move a queue to another file, or between a file and PostgreSQL"
    static let operands: [Operand<Self>] = [
        Operand(.path("FROM", ifEmpty: "FROM is empty"), \.$source),
        Operand(.path("TO", ifEmpty: "TO is empty"), \.$target),
    ]
    static let options: [Option<Self>] = [
        Option(
            "host", .text("NAME"), \.host,
            help: "The machine that the file FROM belongs to, if that is not this one"),
        Option("json", \.isJSON, help: "Print the result as JSON"),
    ]
    static let discussion = [
        """
        FROM and TO are database files or locations such as postgresql:///alertq. A file TO must not \
        exist yet; a queue in PostgreSQL must be there and be empty, as alertq doctor \
        --setup-postgresql makes it. Root gives a new file to the owner of the file FROM, or, if that \
        is on a server, to the owner of the directory.
        """,
        """
        Everything goes along: alerts, responses, ids, keys and the audit log, whose head is the same \
        in both places, so that a head that was saved earlier still verifies. The copy is verified \
        before anybody sees it (65 if its log does not verify, and nothing has changed then). Tables, \
        views and indexes of your own stay where they are.
        """,
        """
        From then on FROM can be read, but asking or answering there is refused (74), with the place \
        where its alerts go on: its log ends with the entry “moved”. Programs that have it open get \
        the same error, and those that would write to it meanwhile wait, so stop them first or copy at \
        a quiet time. If the copy is interrupted or fails, repeat the same command: it goes on, or \
        finds that all was done. A queue that has moved away does not come back to its old name: to \
        move back, name another file, or another queue of the database with ?queue=NAME.
        """,
        """
        In a file, accounts carry no machine's name; in PostgreSQL every account carries one: those \
        of a file get the name that --host gives, else the host_name of TO, else this machine's. \
        Accounts that asked on a server keep theirs in a file, and nobody there has their rights, not \
        even on the machine of that name; a note says whose they are.
        """,
        """
        With --json the object has the keys “from”, “to”, “head” (as audit head prints it) and \
        “alerts” (how many there are).
        """,
    ]

    var common = HelpOptions()
    @Required private var source: String
    @Required private var target: String
    private var host: String?
    private(set) var isJSON = false

    func validate() throws {
        guard let host, !Account.isHost(host) else { return }
        throw UsageError("--host is the name of a machine, and not “\(SafeText.line(host))”")
    }

    func run(in context: Context) async throws -> ExitCode {
        let (from, to) = (QueueLocation(source), QueueLocation(target))
        for location in [from, to] { try location.check() }
        if from.isFile, QueuePresence.isMissing(source) {
            throw CommandError(.notFound, "there is no queue at \(source)")
        }
        let report = try await ProgressBar.during("copying", in: context) { bar in
            try await from.move(to: to, host: host, by: Caller(via: Self.name)) {
                phase, done, total in
                bar.begin(phase == .copying ? "copying" : "verifying")
                bar.show(done, of: total)
            }
        }
        if to.isFile { noteAccounts(of: report.machines, report.home, in: context) }
        guard !isJSON else {
            try context.print(
                JSONValue.object([
                    ("from", .string(from.description)), ("to", .string(report.place)),
                    ("head", .string(report.head.text)), ("alerts", .integer(Int64(report.alerts))),
                ]).text())
            return .done
        }
        try context.print(
            "moved \(SafeText.line(from.description)) to \(SafeText.line(report.place))",
            "head   \(report.head.text)",
            "alerts \(report.alerts)")
        return .done
    }

    /// Prints what becomes of the accounts in a file, which knows only those of one machine.
    ///
    /// - Parameter home: The machine whose accounts have had no name there.
    private func noteAccounts(of machines: [String], _ home: String?, in context: Context) {
        if !machines.isEmpty {
            context.note(
                "accounts of \(SafeText.line(machines.joined(separator: ", "))) keep their machine's "
                    + "name: in a file nobody acts for them, so that their responses can't be "
                    + "collected, and their keys ask new questions")
        }
        if let home, !home.isIdentical(to: QueueLocation(source).ownHost) {
            context.note(
                "accounts of \(SafeText.line(home)) are those of the machine that uses the file")
        }
    }
}
