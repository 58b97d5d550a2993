import AlertQueue
import Glibc
import Linux
import TextFormats

// What people type about fields: definitions for `ask`, values for `answer`.

extension Argument where Value == Alert.Field {
    /// A field for a line of text, with a label if one is given.
    static var textField: Argument {
        Argument("ID[=LABEL]") { text throws(UsageError) in
            let (id, title) = text.split(atFirst: "=") ?? (text, text)
            return Alert.Field(id, title: title)
        }
    }
}

extension Alert.Field {
    /// A value that somebody could give it, as it is typed.
    var example: String {
        switch kind {
        case .text(let rules):
            switch rules.format {
            case .email: "ana@example.org"
            case .uri: "https://example.org"
            case .date: "2026-11-20"
            case .dateTime: "2026-11-20T10:00:00Z"
            case nil: placeholder ?? "TEXT"
            }
        case .integer(let range): "\(min(max(1, range.lowerBound), range.upperBound))"
        case .number(let range): Alert.Value(min(max(1, range.lowerBound), range.upperBound)).text
        case .boolean: "yes"
        case .choice(let options), .choices(let options, _): options.first?.id ?? ""
        }
    }
}

extension Alert.Field {
    /// How several options are typed that were given as one, such as `Mon,Fri`.
    fileprivate func adviceForList(_ texts: [String]) -> String? {
        guard case .choices(let options, _) = kind else { return nil }
        let names = options.flatMap { [$0.id, $0.title] }
        for text in texts where !names.hasIdentical(text) {
            let parts = text.split { ",; ".contains($0) }.map(String.init)
            guard parts.count > 1, parts.allSatisfy(names.hasIdentical) else { continue }
            return "each is given on its own: "
                + parts.map { "--set \(id)=" + ShellText.quoted($0) }.joined(separator: " ")
        }
        return nil
    }
}

extension FieldJSON {
    /// The fields of a schema in JSON, or in the file after an `@`.
    static func fields(typed text: String) throws -> [Alert.Field] {
        let path = text.hasPrefix("@") ? String(text.dropFirst()) : nil
        let bytes = try path.map(contents(of:)) ?? Array(text.utf8)
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch {
            if let path {
                throw AlertError.invalid("schema", "in “\(path)” is not JSON: \(error)")
            }
            guard text.contains("{") else {
                let file = ShellText.quoted("@\(text)")
                throw AlertError.invalid("schema", "is not JSON; to read a file: --schema \(file)")
            }
            throw AlertError.invalid("schema", "is not JSON: \(error)")
        }
        return try fields(schema: json)
    }

    /// A schema is not longer than this.
    private static let limit = 256 << 10

    /// The contents of a file, which may be a pipe.
    private static func contents(of path: String) throws(CommandError) -> [UInt8] {
        let file: Descriptor
        do throws(LinuxError) {
            file = try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), "open \(path)")
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = try SharedDescriptor.read(file.raw, into: &buffer)
                if count == 0 { return bytes }
                bytes += buffer[..<count]
                guard bytes.count <= limit else { break }
            }
        } catch {
            throw CommandError(.inputOutput, "can't read the schema in \(path): \(error.reason)")
        }
        throw CommandError(.badData, "the schema in \(path) has more than \(limit) bytes")
    }
}

extension NamedText {
    /// The values by field that some texts have for an alert's fields, each field's in their order.
    static func values(
        _ typed: [NamedText], for alert: Alert
    ) throws(AlertError) -> [String: Alert.Value] {
        var values: [String: Alert.Value] = [:]
        for name in Set(typed.map(\.name)) {
            let texts = typed.filter { $0.name == name }.map(\.value)
            guard let field = alert.fields.first(where: { $0.id.isIdentical(to: name) }) else {
                // The queue refuses it, and says which fields there are.
                values[name] = .text(texts.joined())
                continue
            }
            do throws(AlertError) {
                // An empty text stands for no value, also where there is an initial one.
                values[name] = try field.value(typed: texts) ?? .text("")
            } catch {
                guard case .invalid(let subject, let reason) = error,
                    let advice = field.adviceForList(texts)
                else { throw error }
                throw .invalid(subject, "\(reason); \(advice)")
            }
        }
        return values
    }
}
