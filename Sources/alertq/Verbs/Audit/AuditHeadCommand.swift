import AlertQueue
import TextFormats

/// `alertq audit head`: the end of the log's chain.
struct AuditHeadCommand: Command {
    static let name = "audit head"
    static let abstract = "Print the head of the audit log, to be kept elsewhere"
    static let discussion = [
        """
        The head is the number and the hash of the log's last entry. With --json the object has \
        the keys “sequence”, that number, and “hash”, in hexadecimal.
        """
    ]

    var common = QueueOptions()

    func run(in context: Context) async throws -> ExitCode {
        let head = try await queue.read(in: context) { try await $0.auditHead() }
        guard let head, let head else { throw CommandError(.notFound, "the audit log is empty") }
        let json = JSONValue.object([
            ("sequence", .integer(head.sequence)), ("hash", .string(Hex.text(head.hash))),
        ])
        try context.print(isJSON ? json.text() : head.text)
        return .done
    }
}
