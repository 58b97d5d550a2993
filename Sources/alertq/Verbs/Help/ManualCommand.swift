/// `alertq manual`: the manual page, `alertq(1)`.
package struct ManualCommand: Command {
    package static let name = "manual"
    package static let abstract = "Print the manual page, to be read with man -l -"
    package static let common = [Option.help]
    package static let discussion = [
        """
        Read it with “alertq manual | man -l -”, or keep it: “alertq manual > \
        /usr/local/share/man/man1/alertq.1”. It is made from the same tables as each verb's help.
        """
    ]

    package init(_ arguments: Arguments) throws {}

    package func run(in context: Context) async throws -> ExitCode {
        try context.output.write(ManualPage.text)
        return .done
    }
}
