// Values of the program, written so that no two sequences have the same bytes.
extension HashInput {
    /// An input that begins with its kind.
    package convenience init(_ kind: String) {
        self.init()
        begin(Array(kind.utf8))
    }

    package func append(_ text: String?) {
        guard var text else { return absent() }
        text.withUTF8 { self.text(UnsafeRawBufferPointer($0)) }
    }

    package func append(_ number: Int64?) {
        guard let number else { return absent() }
        self.number(number)
    }

    package func append(hex bytes: [UInt8]?) {
        guard let bytes else { return absent() }
        bytes.withUnsafeBytes(hex)
    }
}

// MARK: - Properties of an alert

extension HashInput {
    /// Appends a property of an alert: a text, a number, or the number of elements and then these.
    ///
    /// - Parameter left: What an erasure leaves of the buttons, if that is hashed.
    func append(_ property: AlertProperty, of alert: Alert, _ left: ErasedButtons? = nil) {
        switch property.form {
        case .title: append(alert.title)
        case .style: append(alert.style.rawValue)
        case .priority: append(Int64(alert.priority.rawValue))
        case .buttons: left.map { append($0.buttons) } ?? append(alert.buttons)
        // As `FieldJSON` writes them; absent if there are none.
        case .fields: append(alert.fieldsJSON)
        case .text(let get, _):
            // Only the default button is left in part.
            append(
                property.erasure == .partial ? left.map(\.defaultButton) ?? get(alert) : get(alert))
        case .duration(let get, _): append(get(alert)?.milliseconds)
        case .names(let get, _): append(get(alert) ?? [])
        case .strings(let get, _): append(get(alert))
        }
    }

    private func append(_ names: [String]) {
        number(Int64(names.count))
        for name in names { append(name) }
    }

    private func append(_ buttons: [Alert.Button]) {
        number(Int64(buttons.count))
        for button in buttons {
            append(button.id)
            append(button.title)
            append(button.role?.rawValue)
        }
    }

    private func append(_ left: [PartialButton]) {
        number(Int64(left.count))
        for button in left {
            append(button.id)
            append(button.role)
        }
    }

    /// Names and values, in the order of the names' UTF-8 bytes.
    private func append(_ strings: [String: String]) {
        number(Int64(strings.count))
        for name in strings.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            append(name)
            append(strings[name])
        }
    }
}
