import AlertQueue

/// The manual page, made from the tables of options that parsing and help follow, too; see man(7).
enum ManualPage {
    static var text: String {
        var page = Roff()
        page.line(".TH ALERTQ 1 \(Program.releaseDate) \"alertq \(Program.version)\"")
        page.section("NAME")
        page.paragraph("alertq - ask people questions that wait until they are answered")
        page.section("SYNOPSIS")
        page.line(".B alertq")
        page.line("\\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]")
        page.section("DESCRIPTION")
        for paragraph in description { page.paragraph(paragraph) }
        page.section("VERBS")
        for verb in Verbs.all { page.verb(verb.syntax) }
        page.section("COMMON OPTIONS")
        page.paragraph("Every verb that works on a queue takes these.")
        for option in QueueOptions.options { page.option(option.syntax) }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item("\(code.rawValue)", code.meaning + ".") }
        page.section("ENVIRONMENT")
        for (name, about) in environment { page.item(name, about) }
        page.section("FILES")
        for (path, about) in files { page.item(path, about) }
        page.section("EXAMPLES")
        for (about, command) in examples { page.example(about, command) }
        page.section("SEE ALSO")
        page.paragraph("notify-send(1), sqlite3(1)")
        return page.text
    }

    private static let description = [
        """
        A program that runs without a screen, such as a backup job, an updater or a daemon, has a \
        question for a person. alertq keeps the question until somebody answers it, keeps the \
        answer permanently, and logs who chose which button, when, and what they had been shown, \
        in a hash chain that reveals every later change.
        """,
        """
        Nothing is lost when a process, a terminal or the machine dies, and a timeout is never \
        mistaken for a person's answer. Results go to the standard output, everything else to the \
        standard error.
        """,
    ]

    private static let environment = [
        (
            "ALERTQ_DATABASE",
            "The file of the queue, if neither --database nor --system is given."
        ),
        ("ALERTQ_SOURCE", "The asker's name, if --source is not given."),
        ("ALERTQ_URL", "The address of the service that alertq serve runs, if --url is not given."),
        (
            "XDG_STATE_HOME",
            """
            The directory for state files, with your own queue; ~/.local/state if it is not set, or \
            not an absolute path.
            """
        ),
        (
            "HOME",
            """
            Your home directory; if it is not set, not an absolute path, or /, that of your account \
            in passwd(5), if it exists.
            """
        ),
        ("NO_COLOR", "If it is set, nothing is coloured; see https://no-color.org."),
    ]

    private static let files = [
        ("$XDG_STATE_HOME/alertq/queue.db", "Your own queue: an SQLite database."),
        (
            QueueLocation.systemPath,
            """
            The system queue, which root and --system use; “alertq doctor --setup-system” \
            creates its directory.
            """
        ),
        (
            "queue.db-wal, -shm, -lock, -slot, -bell, -leases, -reserve",
            "Files that belong to the database. Keep them next to it."
        ),
    ]

    private static let examples = [
        (
            "Ask before something is destroyed; the exit status distinguishes a yes from a no:",
            "alertq ask \"Prune old snapshots?\" --destructive yes=Prune --cancel no=Keep && prune"
        ),
        (
            "Ask in a script that may be killed and run again: the same key finds the answer:",
            "alertq ask \"Reboot tonight?\" -b yes=Reboot --cancel no=Later --key reboot-42"
        ),
        ("Answer waiting questions at a terminal:", "alertq present"),
        ("See who agreed to what:", "alertq history --source backup --since 30d"),
    ]
}

/// Text in the language of troff's `man` macros; see man(7).
private struct Roff {
    private(set) var text = ""

    mutating func line(_ line: String) {
        text += line + "\n"
    }

    mutating func section(_ title: String) {
        line(".SH \(title)")
    }

    mutating func paragraph(_ paragraph: String) {
        breakParagraph()
        line(Self.escaped(paragraph))
    }

    /// Starts a paragraph, unless a section has just begun, which does so itself.
    private mutating func breakParagraph() {
        let last = text.split(separator: "\n").last ?? ""
        if !last.hasPrefix(".SH ") { line(".PP") }
    }

    mutating func item(_ term: String, _ about: String) {
        line(".TP\n.B " + Self.escaped(term) + "\n" + Self.escaped(about))
    }

    mutating func example(_ about: String, _ command: String) {
        paragraph(about)
        breakParagraph()
        line(".RS 4\n.nf\n" + Self.escaped(command) + "\n.fi\n.RE")
    }

    mutating func option(_ option: OptionSyntax) {
        let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let argument = option.placeholder.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
        let repeats = option.isRepeatable ? " (repeatable)" : ""
        line(".TP\n\(short)\\fB\\-\\-\(Self.escaped(option.name))\\fR\(argument)")
        line(Self.escaped(option.help + repeats) + ".")
    }

    mutating func verb(_ verb: VerbSyntax) {
        let operands = verb.operands.map { " \\fI\(Self.escaped($0.usage))\\fR" }.joined()
        line(".SS alertq \(Self.escaped(verb.name)) [OPTIONS]\(operands)")
        line(Self.escaped(verb.abstract) + ".")
        for option in verb.options { self.option(option) }
        for paragraph in verb.discussion { self.paragraph(paragraph) }
        for example in verb.examples { self.example(example.about + ":", example.line) }
    }

    /// Text as troff prints it: no character of it is a command.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "“": escaped += "\\(lq"
            case "”": escaped += "\\(rq"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "~": escaped += "\\(ti"
            case "^": escaped += "\\(ha"
            case "\"": escaped += "\\(dq"
            default: escaped.append(character)
            }
        }
        // A dot at the start of a line would be a request.
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
}
