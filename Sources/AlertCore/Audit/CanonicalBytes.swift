/// The bytes that the audit log hashes: fields one after the other, each unmistakable.
///
/// A text is written as a netstring, `length:bytes,` with the length in decimal
/// (<https://cr.yp.to/proto/netstrings.txt>); a number as the netstring of its decimal digits;
/// bytes as the netstring of their lower-case hexadecimal digits; an absent value as `-,`.
package struct CanonicalBytes: ~Copyable {
    private let input = HashInput()

    package init(_ kind: String) {
        input.begin(Array(kind.utf8))
    }

    package func append(_ text: String?) {
        guard var text else { return input.absent() }
        text.withUTF8 { input.text(UnsafeRawBufferPointer($0)) }
    }

    package func append(_ number: Int64?) {
        guard let number else { return input.absent() }
        input.number(number)
    }

    package func append(hex: [UInt8]?) {
        guard let hex else { return input.absent() }
        hex.withUnsafeBytes(input.hex)
    }

    package var bytes: [UInt8] { input.bytes }

    /// The SHA-256 of it all.
    package var hash: [UInt8] { input.hash }
}

// MARK: - Parts of an alert

extension CanonicalBytes {
    func append(_ names: [String]) {
        append(Int64(names.count))
        for name in names { append(name) }
    }

    func append(_ buttons: [Alert.Button]) {
        append(Int64(buttons.count))
        for button in buttons {
            append(button.id)
            append(button.title)
            append(button.role?.rawValue)
        }
    }

    func append(_ strings: [String: String]) {
        append(Int64(strings.count))
        for name in strings.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            append(name)
            append(strings[name])
        }
    }
}
