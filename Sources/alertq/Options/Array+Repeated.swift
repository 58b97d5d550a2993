extension Array where Element: Hashable {
    /// The first element that repeats an earlier one.
    var firstRepeated: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
