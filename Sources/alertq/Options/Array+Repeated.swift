extension Array where Element: Hashable {
    /// The first element that an equal one stands before.
    var firstRepeated: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
