/// All verbs, in the order in which `alertq help` lists them.
enum Verbs {
    static let all: [any Command.Type] = [
        AskCommand.self, NotifyCommand.self, RunCommand.self, PresentCommand.self, ListCommand.self,
        ShowCommand.self, AnswerCommand.self, ClaimCommand.self, SnoozeCommand.self,
        WithdrawCommand.self, CancelCommand.self, CollectCommand.self, WaitCommand.self,
        WatchCommand.self, HistoryCommand.self, StatsCommand.self, AuditListCommand.self,
        AuditVerifyCommand.self, AuditHeadCommand.self, AuditExportCommand.self,
        ReceiptCommand.self, PurgeCommand.self, BackupCommand.self, RestoreCommand.self,
        StoreCopyCommand.self, DoctorCommand.self, ServeCommand.self, MCPCommand.self,
        HookClaudeCommand.self, HookCodexCommand.self, CompletionsCommand.self,
        ManualCommand.self, HelpCommand.self,
    ]

    /// The verb with exactly this name.
    static func named(_ name: String) -> (any Command.Type)? {
        all.first { $0.name == name }
    }

    /// The verbs of a group: `audit` has `audit list` and others.
    static func group(_ name: String) -> [any Command.Type] {
        all.filter { $0.name.hasPrefix(name + " ") }
    }

    /// What may be typed as the first word.
    static var firstWords: [String] {
        var words: [String] = []
        for verb in all {
            let word = verb.name.split(separator: " ").first.map(String.init) ?? verb.name
            if words.last != word { words.append(word) }
        }
        return words
    }
}
