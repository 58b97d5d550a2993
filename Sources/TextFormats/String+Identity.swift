import Glibc

extension String {
    /// Whether all bytes are equal: Swift's `==` treats canonically equivalent texts, such as the
    /// two ways to write é, as equal.
    ///
    /// Texts that programs look up or distinguish are compared this way, as the database does.
    package func isIdentical(to other: String) -> Bool {
        let areSame = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { two in
                guard let first = one.baseAddress, let second = two.baseAddress,
                    one.count == two.count
                else { return one.count == two.count }
                return memcmp(first, second, one.count) == 0
            }
        }
        // A text that Foundation has made may have no such storage.
        return areSame.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }
}

extension [String] {
    /// Whether both have the same texts in the same order, byte by byte.
    package func isIdentical(to other: [String]) -> Bool {
        elementsEqual(other) { $0.isIdentical(to: $1) }
    }

    /// Whether a text is among these, byte by byte.
    package func hasIdentical(_ text: String) -> Bool { contains(where: text.isIdentical) }

    /// Whether both have a text in common, byte by byte.
    package func hasIdentical(of other: [String]) -> Bool { contains(where: other.hasIdentical) }
}

extension String? {
    /// Whether both are absent, or all bytes are equal.
    package func isIdentical(to other: String?) -> Bool {
        switch (self, other) {
        case (let one?, let two?): one.isIdentical(to: two)
        case (nil, nil): true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character or a line separator: some programs end a line at U+001C to
    /// U+001E, U+0085, U+2028 and U+2029, too, as Python's `splitlines()` does.
    package var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether it has nothing but ASCII letters, digits, `_`, `.` and `-`, as an id has that people
    /// type before a `=`.
    package var isPlainIdentifier: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", ".", "-": true
            default: false
            }
        }
    }
}

extension String {
    /// Whether it has nothing but whitespace, or nothing at all.
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }

    /// A line without what programs of Windows write around it: a byte order mark before, and a
    /// carriage return at its end.
    package var withoutForeignMarks: String {
        var scalars = unicodeScalars[...]
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        if scalars.last == "\r" { scalars.removeLast() }
        return String(scalars)
    }

    /// The longest prefix that fits into a number of bytes of UTF-8, without a partial character.
    package func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var count = 0
        return String(
            prefix { character in
                count += character.utf8.count
                return count <= limit
            })
    }
}
