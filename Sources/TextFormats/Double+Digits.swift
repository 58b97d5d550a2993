extension Double {
    /// The number that decimal digits say, with or without a point and an exponent; `nil` for one
    /// that is too large, or that is not 0 and too close to it: it would become another number.
    package init?(digits: String) {
        guard let number = Double(digits), number.isFinite else { return nil }
        let isZero = digits.prefix { !"eE".contains($0) }.allSatisfy { !("1"..."9").contains($0) }
        guard (number == 0) == isZero else { return nil }
        self = number
    }
}
