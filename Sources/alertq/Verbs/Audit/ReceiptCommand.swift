import AlertQueue

/// `alertq receipt ID…`: documents that show, without the queue, how alerts were asked and how they
/// ended.
struct ReceiptCommand: NamingCommand {
    static let name = "receipt"
    static let abstract =
        "Print receipts, which show elsewhere how alerts were asked and how they ended"
    static let operands: [Operand<Self>] = [Operand(.alertID(.text), each: \.alerts.ids)]
    static let options: [Option<Self>] =
        [
            Option(
                "head", .auditHead, \.head,
                help: "A head printed earlier, with which to end the chain")
        ] + byKey
    static let discussion = [
        """
        A receipt is a line of JSON with what was asked and answered, the salt of its hashes, the \
        log's entries about the alert, and the chain from the first of them to the last one, or to \
        the head that is given, and nothing after that. It has only the hashes of entries about \
        other alerts. `alertq audit verify --receipt FILE` checks it on any machine, without the \
        queue.
        """,
        """
        Whoever knows the receipt's head from elsewhere knows that the log has these entries about \
        the alert up to there, and no others: keep the output of audit head where the queue's \
        accounts can't write, or sign the receipt with ssh-keygen -Y sign. A receipt can't show \
        what happened to the alert after its head. Once the texts are erased, none can be made.
        """,
        severalDiscussion,
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts()
    private var head: AuditHead?

    func run(in context: Context) async throws -> ExitCode {
        try await queue.open(with: alerts.ids.first, via: Self.name, readingIn: context) {
            manager in
            try await forEach(manager, in: context) { id in
                try context.print(try await manager.receipt(of: id, through: head).text())
                return .done
            }
        }
    }
}
