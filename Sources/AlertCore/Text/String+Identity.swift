extension String {
    /// Whether every byte is the same: Swift's `==` takes canonically equivalent texts, such as the
    /// two ways to write é, for equal.
    ///
    /// What programs look up or tell apart is compared so, as the database does it.
    package func isIdentical(to other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Whether the bytes of another text, which is not empty, stand in this one.
    package func hasBytes(of other: String) -> Bool {
        guard let first = other.utf8.first else { return true }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: other.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

extension String? {
    /// Whether both are absent, or every byte is the same.
    package func isIdentical(to other: String?) -> Bool {
        switch (self, other) {
        case (let one?, let two?): one.isIdentical(to: two)
        case (nil, nil): true
        default: false
        }
    }
}

extension String {
    /// As much of the text as fits into a number of bytes of UTF-8, without half a character.
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
