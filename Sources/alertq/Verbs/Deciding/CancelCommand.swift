import AlertQueue

/// `alertq cancel ID…`: cancels alerts, as the system does.
struct CancelCommand: RevokingCommand {
    static let name = "cancel"
    static let abstract = "Cancel alerts; their cancel buttons' actions run"
    static let operands: [Operand<Self>] = [Operand(.alertID, each: \.alerts.ids)]
    static let options: [Option<Self>] = [.force] + byKey
    static let discussion = [
        """
        It is recorded as cancelled by the system, and the ask that waits for it exits with 17. To \
        say no as a person, use answer; to take back your own question, use withdraw.
        """,
        forceDiscussion, severalDiscussion,
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts()
    var isForced = false

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { try await $0.cancel($1, authority) }
    }
}
