import AlertCore

/// An object that a file's schema lacks, or must not have in that form.
package enum SchemaFault: Equatable, Sendable {
    case missing(SchemaObject)
    /// The object is not as alertq creates it.
    case changed(SchemaObject, found: SchemaObject)
    /// A trigger that another program added to one of alertq's tables or views: it could change
    /// what is stored, or prevent it from being stored, without an error.
    case foreignTrigger(SchemaObject)
    /// An index that another program added to one of alertq's tables and that is unique, or has an
    /// expression or a condition: it may refuse rows that should be stored.
    case foreignIndex(SchemaObject)

    /// The object, as it must be or as it was found.
    package var object: SchemaObject {
        switch self {
        case .missing(let object), .changed(let object, _), .foreignTrigger(let object),
            .foreignIndex(let object):
            object
        }
    }

    /// The statement that removes another program's object; `nil` for alertq's own.
    package var removal: String? {
        switch self {
        case .missing, .changed: nil
        case .foreignTrigger(let object): "DROP TRIGGER \(object.name.sqlQuoted)"
        case .foreignIndex(let object): "DROP INDEX \(object.name.sqlQuoted)"
        }
    }

    package var description: String {
        let subject = object.subject
        switch self {
        case .missing: return "\(subject) is missing"
        case .changed(let object, let found):
            let isOther = found.type != object.type
            return subject + (isOther ? " is a \(found.type) now" : " is not as alertq makes it")
        case .foreignTrigger: return "\(subject) is not alertq's"
        case .foreignIndex: return "\(subject) may refuse rows, and is not alertq's"
        }
    }

    private var advice: String {
        removal.map { "remove it: " + SafeText.line($0) } ?? "to repair it: alertq doctor --repair"
    }

    /// The error for which the file is refused, and what to do.
    static func error(_ faults: [SchemaFault]) -> AlertError? {
        guard let first = faults.first else { return nil }
        let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return .inconsistent(nil, "\(first.description)\(others); \(first.advice)")
    }
}
