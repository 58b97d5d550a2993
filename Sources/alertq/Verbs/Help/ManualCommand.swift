/// `alertq manual`: the manual page, `alertq(1)`.
struct ManualCommand: Command {
    static let name = "manual"
    static let abstract = "Print the manual page, to be read with man -l -"
    static let discussion = [
        """
        Read it with “alertq manual | man -l -”, or install it: “alertq manual > \
        /usr/local/share/man/man1/alertq.1”. It is made from the same tables as each verb's help.
        """
    ]

    var common = HelpOptions()

    func run(in context: Context) async throws -> ExitCode {
        try context.output.write(ManualPage.text)
        return .done
    }
}
