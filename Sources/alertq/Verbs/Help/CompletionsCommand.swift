/// `alertq completions SHELL`: the script that makes a shell complete verbs, options and alerts.
struct CompletionsCommand: Command {
    static let name = "completions"
    static let abstract = "Print the script that makes a shell complete alertq"
    static let operands: [Operand<Self>] = [
        Operand(.shell, \.$shell), Operand(.text("WORD"), each: \.typed),
    ]
    static let discussion = [
        """
        SHELL is bash, zsh or fish. For bash put “source <(alertq completions bash)” into \
        ~/.bashrc; for zsh “source <(alertq completions zsh)” into ~/.zshrc, after compinit; for \
        fish run “alertq completions fish > ~/.config/fish/completions/alertq.fish”.
        """,
        """
        The script asks alertq itself what could come next: verbs, options, the ids of alerts that \
        wait, their buttons, keys and sources. To do so, it passes the words of the line, without \
        the first, after “--”; the last one is the one being typed. Each line of the result is a \
        word, a tab, and a description.
        """,
    ]

    var common = HelpOptions()
    @Required private var shell: Shell
    /// The words of a line, the last of which is being typed.
    private var typed: [String] = []

    func run(in context: Context) async throws -> ExitCode {
        let words = typed.indices.map { index in
            shell.argument(typed[index], isLast: index == typed.indices.last)
        }
        let text = words.isEmpty ? shell.script : Shell.text(await Completer(words).offer())
        try context.output.write(text)
        return .done
    }
}
