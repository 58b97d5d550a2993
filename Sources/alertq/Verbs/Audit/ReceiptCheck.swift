import AlertQueue
import Glibc
import Linux
import TextFormats

// `audit verify --receipt FILE`: what receipts say, and whether that is true.
extension AuditVerifyCommand {
    /// How much is read, in bytes: a chain of some hundred thousand entries.
    private static let receiptLimit = 64 << 20

    /// Checks each receipt of a file: one on a line, or a single one on several, as jq(1) writes it.
    func check(receipt path: String, in context: Context) throws -> ExitCode {
        let file = try Self.read(path)
        let lines = file.split(separator: UInt8(ascii: "\n"))
        guard !lines.isEmpty else {
            throw CommandError(.badData, "there is no receipt in \(path)")
        }
        let isOne = (try? JSONValue(parsing: file)) != nil
        var code = ExitCode.done
        for text in isOne ? [file[...]] : lines {
            var (receipt, fault): (AlertReceipt?, String?)
            do throws(AlertError) {
                receipt = try AlertReceipt(String(decoding: text, as: UTF8.self))
                try receipt?.check(expecting: head)
            } catch {
                fault = Self.reason(error, receipt)
            }
            if isJSON {
                try context.print(Self.json(receipt, fault).text())
            } else if fault == nil, let receipt {
                try print(receipt, in: context)
            }
            if let fault {
                context.note("\(Self.name): \(fault)")
                code = .badData
            }
        }
        return code
    }

    /// Why a receipt is refused: it is no queue of this machine that can't be trusted.
    private static func reason(_ error: AlertError, _ receipt: AlertReceipt?) -> String {
        guard let receipt, case .inconsistent(_, let reason) = error else { return "\(error)" }
        return "the receipt of alert \(receipt.id) is not true: \(reason)"
    }

    private static func json(_ receipt: AlertReceipt?, _ fault: String?) -> JSONValue {
        .object([
            ("verifies", .bool(fault == nil)), ("alert", .optional(receipt?.id)),
            ("entries", .optional(receipt?.entries.count)),
            ("head", .optional(receipt?.head.text)),
            ("problems", .array(fault.map { [.string($0)] } ?? [])),
        ])
    }

    private func print(_ receipt: AlertReceipt, in context: Context) throws {
        let (alert, characters) = (receipt.alert, context.output.characters)
        let buttons = alert.buttons.map {
            $0.id.isIdentical(to: $0.title) ? $0.id : "\($0.id)=\($0.title)"
        }
        let ending = receipt.response.map {
            Ending($0, isQuestion: !alert.buttons.isEmpty).text(context.lastingTime)
        }
        let values = alert.fields.compactMap { field in
            receipt.input.values[field.id].map { "\(field.title): \($0.text)" }
        }
        let facts = [
            buttons.isEmpty ? nil : "buttons: " + buttons.joined(separator: ", "),
            ending ?? "not ended by that head",
            values.isEmpty ? nil : values.joined(separator: "; "),
            receipt.input.note.map { "note: " + $0 },
        ]
        let title = "alert \(receipt.id) of \(alert.source ?? ""): \(alert.title)"
        try context.print(characters.line(title))
        if let message = alert.message { try context.print(characters.message(message)) }
        for fact in facts.compactMap({ $0 }) { try context.print(characters.line(fact)) }
        var table = AuditListCommand.table(hasTitle: false, in: context)
        let rows = receipt.entries.map {
            AuditListCommand.row($0, hasTitle: false, in: context)
        }
        try context.output.write(table.text(rows))
        try context.print("the chain verifies, up to the head \(receipt.head.text)")
    }

    private static func read(_ path: String) throws -> [UInt8] {
        do throws(LinuxError) {
            let file =
                path == "-"
                ? nil
                : try Descriptor(
                    open(path, O_RDONLY | O_CLOEXEC), "open")
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
            while true {
                let count = try SharedDescriptor.read(file?.raw ?? STDIN_FILENO, into: &buffer)
                if count == 0 { return bytes }
                bytes += buffer[..<count]
                guard bytes.count <= receiptLimit else { break }
            }
        } catch {
            throw CommandError(
                error.code == ENOENT ? .notFound : .inputOutput,
                "can't read \(path): \(error.reason)")
        }
        throw CommandError(.badData, "\(path) has more than \(receiptLimit >> 20) MiB")
    }
}
