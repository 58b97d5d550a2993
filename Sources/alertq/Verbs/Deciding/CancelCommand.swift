import AlertQueue

/// `alertq cancel ID`: cancels an alert, as the system does.
struct CancelCommand: RevokingCommand {
    static let name = "cancel"
    static let abstract = "Cancel an alert; its cancel button's action runs"
    static let operands: [Operand<Self>] = [Operand(.alertID, \.$id)]
    static let options: [Option<Self>] = [.force]
    static let discussion = [
        """
        It is recorded as cancelled by the system, and the ask that waits for it exits with 17. To \
        say no as a person, use answer; to take back your own question, use withdraw.
        """,
        forceDiscussion,
    ]

    var common = QueueOptions()
    @Required var id: Alert.ID
    var isForced = false

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { try await $0.cancel(id, authority) }
    }
}
