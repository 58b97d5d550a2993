import AlertQueue

/// A verb that ends alerts without an answer, which is the right of the account that asked.
protocol RevokingCommand: ChangingCommand {
    /// Whether `--force` was given.
    var isForced: Bool { get set }
}

extension RevokingCommand {
    static var forceDiscussion: String {
        """
        Only the account that asked and root of its machine may do this. Any other account is \
        refused with 77, and the message names the account that asked. With --force, any account may \
        do it; the record then says that a person or a program of another account did, by the same \
        rule as for answer.
        """
    }

    /// The authority of this process, over others' alerts too if `--force` was given.
    var authority: Resolution.Authority {
        isForced ? .forced(.thisProcess) : .own(.thisProcess)
    }
}

extension Option where Target: RevokingCommand {
    static var force: Option {
        Option("force", \.isForced, help: "Do it even if another account asked")
    }
}
