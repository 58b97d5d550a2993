extension String {
    /// Whether every byte is the same: Swift's `==` takes canonically equivalent texts, such as the
    /// two ways to write é, for equal.
    ///
    /// What programs look up or tell apart is compared so, as the database does it.
    package func isIdentical(to other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
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
