/// A set of ids, in an eighth of a byte each.
struct BitSet: Sendable {
    /// Beyond this, 8 MiB a set, the careful check has to do without.
    static let largest: Int64 = 1 << 26

    private var words: [UInt64] = []
    private(set) var count = 0

    /// Adds an id; `false` if it is there already or too large.
    mutating func insert(_ id: Int64) -> Bool {
        guard id >= 0, id < Self.largest else { return false }
        let (word, bit) = (Int(id >> 6), UInt64(1) << UInt64(id & 63))
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: word + 1 - words.count))
        }
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        count += 1
        return true
    }

    mutating func remove(_ id: Int64) {
        guard contains(id) else { return }
        words[Int(id >> 6)] &= ~(UInt64(1) << UInt64(id & 63))
        count -= 1
    }

    func contains(_ id: Int64) -> Bool {
        guard id >= 0, id >> 6 < words.count else { return false }
        return words[Int(id >> 6)] & (UInt64(1) << UInt64(id & 63)) != 0
    }

    /// Adds another set; `false` if they have an id in common.
    mutating func merge(_ other: BitSet) -> Bool {
        let sum = count + other.count
        formUnion(other)
        return count == sum
    }

    mutating func formUnion(_ other: BitSet) {
        let missing = other.words.count - words.count
        if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
        for (index, word) in other.words.enumerated() { words[index] |= word }
        recount()
    }

    mutating func subtract(_ other: BitSet) {
        for index in 0..<min(words.count, other.words.count) { words[index] &= ~other.words[index] }
        recount()
    }

    func intersection(_ other: BitSet) -> BitSet {
        var common = BitSet()
        common.words = zip(words, other.words).map { $0 & $1 }
        common.recount()
        return common
    }

    /// Whether another set has all of these.
    func isSubset(of other: BitSet) -> Bool {
        words.enumerated().allSatisfy { index, word in
            word & ~(index < other.words.count ? other.words[index] : 0) == 0
        }
    }

    private mutating func recount() {
        count = words.reduce(0) { $0 + $1.nonzeroBitCount }
    }
}
