/// `alertq completions SHELL`: what makes a shell complete the command's verbs, options and alerts.
package struct CompletionsCommand: Command {
    package static let name = "completions"
    package static let abstract = "Print the script that makes a shell complete alertq"
    package static let operands = ["SHELL", "[WORD...]"]
    package static let common = [Option.help]
    package static let discussion = [
        """
        SHELL is bash, zsh or fish. For bash put “source <(alertq completions bash)” into \
        ~/.bashrc; for zsh “source <(alertq completions zsh)” into ~/.zshrc, after compinit; for \
        fish run “alertq completions fish > ~/.config/fish/completions/alertq.fish”.
        """,
        """
        The script asks alertq itself what could come next: verbs, options, the ids of alerts that \
        wait, their buttons, keys and sources. For that it gives the words of the line, without \
        the first, after “--”; the last one is being typed. Each line of the result is a word, a \
        tab, and what it is.
        """,
    ]

    private let shell: Shell
    private let words: [String]

    package init(_ arguments: Arguments) throws {
        let name = arguments.operands[0]
        guard let shell = Shell(rawValue: name) else {
            throw UsageError("“\(name)” is none of bash, zsh, fish")
        }
        self.shell = shell
        let typed = arguments.operands.dropFirst()
        words = typed.indices.map { index in
            shell.argument(typed[index], isLast: index == typed.indices.last)
        }
    }

    package func run(in context: Context) async throws -> ExitCode {
        let text = words.isEmpty ? shell.script : Shell.text(await Completer(words).offer())
        try context.output.write(text)
        return .done
    }
}
