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

// MARK: - Parts of an alert

extension HashInput {
    package func append(_ names: [String]) {
        number(Int64(names.count))
        for name in names { append(name) }
    }

    package func append(_ buttons: [Alert.Button]) {
        number(Int64(buttons.count))
        for button in buttons {
            append(button.id)
            append(button.title)
            append(button.role?.rawValue)
        }
    }

    /// Appends what an erasure leaves of buttons.
    package func append(_ left: [PartialButton]) {
        number(Int64(left.count))
        for button in left {
            append(button.id)
            append(button.role)
        }
    }

    package func append(_ strings: [String: String]) {
        number(Int64(strings.count))
        for name in strings.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            append(name)
            append(strings[name])
        }
    }
}
