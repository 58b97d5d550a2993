import AlertQueue

/// `alertq audit head`: the end of the log's chain.
package struct AuditHeadCommand: Command {
    package static let name = "audit head"
    package static let abstract = "Print the end of the audit log, to be kept elsewhere"
    package static let discussion = [
        """
        With --json the object has the keys “sequence”, the number of the last entry, and “hash”, \
        its hash in hexadecimal.
        """
    ]

    private let queue: QueueChoice
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        isJSON = arguments.has(.json)
    }

    package func run(in context: Context) async throws -> ExitCode {
        let head = try await queue.read(via: "audit", in: context) { try await $0.auditHead() }
        guard let head, let head else { throw CommandError(.notFound, "the audit log is empty") }
        let json = JSONValue.object([
            ("sequence", .integer(head.sequence)), ("hash", .string(Hex.text(head.hash))),
        ])
        try context.print(isJSON ? json.text() : head.text)
        return .done
    }
}
