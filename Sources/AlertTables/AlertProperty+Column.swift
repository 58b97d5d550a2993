import AlertCore
import SQL
import TextFormats

// The properties of an alert as the columns of its row.
extension AlertProperty {
    package static let columns = all.map(\.column)

    /// The value for a new row.
    package func value(of alert: Alert) -> Value {
        switch form {
        case .title: .text(alert.title)
        case .style: .text(alert.style.rawValue)
        case .priority: .integer(alert.priority.rawValue)
        case .buttons: .text(StoredJSON.encode(alert.buttons))
        case .fields: .optional(alert.fieldsJSON)
        case .text(let get, _): .optional(get(alert))
        case .duration(let get, _): .optional(get(alert)?.milliseconds)
        case .names(let get, _): .optional(get(alert).map { StoredJSON.encode($0) })
        case .strings(let get, _): .text(StoredJSON.encode(get(alert)))
        }
    }

    /// The value once the texts have been erased.
    func value(leaving left: ErasedButtons) -> Value {
        switch form {
        case .buttons: .text(StoredJSON.encode(left.buttons))
        case .strings: .text(StoredJSON.encode([:]))
        default: erasure == .partial ? .optional(left.defaultButton) : .null
        }
    }

    /// Reads it from a column of a row into an alert, which keeps a title that has been erased.
    ///
    /// - Parameter left: What an erasure has left of the buttons, if the texts have been erased.
    /// - Returns: Whether the column can be understood.
    func read(
        _ row: borrowing some SQLRow & ~Copyable, at column: Int32, _ left: ErasedButtons?,
        into alert: inout Alert
    ) -> Bool {
        switch form {
        case .title: if let title = row.optionalText(at: column) { alert.title = title }
        case .style:
            guard let style = row.optionalText(at: column).flatMap(Alert.Style.init) else {
                return false
            }
            alert.style = style
        case .priority:
            let number = Int(truncatingIfNeeded: row.integer(at: column))
            guard let priority = Alert.Priority(rawValue: number) else { return false }
            alert.priority = priority
        case .buttons:
            if let left {
                alert.buttons = StoredJSON.buttons(left.buttons)
                break
            }
            guard let buttons = try? StoredJSON.buttons(row.optionalText(at: column) ?? "") else {
                return false
            }
            alert.buttons = buttons
        case .fields:
            guard let text = row.optionalText(at: column) else { break }
            guard let fields = try? FieldJSON.fields(text) else { return false }
            alert.fields = fields
        case .text(_, let set): set(&alert, row.optionalText(at: column))
        case .duration(_, let set):
            if !row.isNull(at: column) { set(&alert, .milliseconds(row.integer(at: column))) }
        case .names(_, let set):
            guard let text = row.optionalText(at: column) else { break }
            guard let names = try? StoredJSON.decode([String].self, text) else { return false }
            set(&alert, names)
        case .strings(_, let set):
            guard let strings = try? StoredJSON.strings(row.optionalText(at: column) ?? "") else {
                return false
            }
            set(&alert, strings)
        }
        return true
    }

    /// Where the one with a name is in the rows of ``AlertRow/columns``.
    static func index(_ name: String) -> Int32 {
        guard let index = all.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("an alert has no “\(name)”")
        }
        return Int32(index)
    }

    /// Whether a column of JSON is written as this program writes it, as far as an erasure leaves it.
    func isCanonical(
        _ row: borrowing some SQLRow & ~Copyable, at column: Int32, of alert: Alert,
        _ left: ErasedButtons?
    ) -> Bool {
        switch form {
        case .buttons, .fields, .names, .strings: break
        case .title, .style, .priority, .text, .duration: return true
        }
        if left != nil, erasure == .removed { return true }
        let left = erasure == .partial ? left : nil
        switch left.map(value(leaving:)) ?? value(of: alert) {
        case .text(let text): return row.holds(text, at: column)
        default: return row.isNull(at: column)
        }
    }
}
