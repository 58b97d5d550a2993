import AlertQueue

/// `alertq audit head`: the end of the log's chain.
package struct AuditHeadCommand: Command {
    package static let name = "audit head"
    package static let abstract = "Print the end of the audit log, to be kept elsewhere"

    private let queue: QueueChoice
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        isJSON = arguments.has(.json)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await queue.open(via: "audit") { manager in
            guard let head = try await manager.auditHead() else {
                throw CommandError(.notFound, "the audit log is empty")
            }
            let json = JSONValue.object([
                ("sequence", .integer(head.sequence)), ("hash", .string(HexText.of(head.hash))),
            ])
            try context.print(isJSON ? json.text() : head.text)
            return .done
        }
    }
}
