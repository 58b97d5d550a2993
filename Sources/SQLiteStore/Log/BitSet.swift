import AlertCore

/// A set of ids that takes one bit per id.
///
/// Ids begin at 1, and after each restore of a backup at a number 2³² higher: distant ids are kept
/// in pages, which exist only if they contain any.
///
/// Gain: verifying 263,000 alerts takes at most 24 MiB, and 75 MiB with a `Set`, in the same time
/// (`alertq-bench verify`, with time(1) for the memory).
struct BitSet: Sendable {
    /// Ids below this are in one row of bits, at most 8 MiB per set.
    static let largest: Int64 = 1 << 26
    /// The number of ids in a page, and the maximum number of pages: again 8 MiB. Beyond that, only
    /// the careful check works.
    private static let pageLength: Int64 = 1 << 12
    static let mostPages = 1 << 14

    private var words: [UInt64] = []
    private var pages: [Int64: [UInt64]] = [:]
    private(set) var count = 0

    /// Adds an id; `false` if it is already there, or there is no room for it.
    mutating func insert(_ id: Int64) -> Bool {
        guard id >= 0 else { return false }
        guard id < Self.largest else { return insertFar(id) }
        let (word, bit) = (Int(id >> 6), UInt64(1) << UInt64(id & 63))
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: word + 1 - words.count))
        }
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        count += 1
        return true
    }

    private mutating func insertFar(_ id: Int64) -> Bool {
        let (page, word, bit) = Self.position(of: id)
        if pages[page] == nil {
            guard pages.count < Self.mostPages else { return false }
            pages[page] = [UInt64](repeating: 0, count: Int(Self.pageLength / 64))
        }
        guard let found = pages[page]?[word], found & bit == 0 else { return false }
        pages[page]?[word] = found | bit
        count += 1
        return true
    }

    mutating func remove(_ id: Int64) {
        guard contains(id) else { return }
        count -= 1
        guard id < Self.largest else {
            let (page, word, bit) = Self.position(of: id)
            pages[page]?[word] &= ~bit
            return
        }
        words[Int(id >> 6)] &= ~(UInt64(1) << UInt64(id & 63))
    }

    func contains(_ id: Int64) -> Bool {
        guard id >= 0 else { return false }
        guard id < Self.largest else {
            let (page, word, bit) = Self.position(of: id)
            return (pages[page]?[word] ?? 0) & bit != 0
        }
        guard id >> 6 < words.count else { return false }
        return words[Int(id >> 6)] & (UInt64(1) << UInt64(id & 63)) != 0
    }

    private static func position(of id: Int64) -> (page: Int64, word: Int, bit: UInt64) {
        (id / pageLength, Int(id % pageLength >> 6), UInt64(1) << UInt64(id & 63))
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
        pages.merge(other.pages) { mine, its in zip(mine, its).map { $0 | $1 } }
        recount()
    }

    mutating func subtract(_ other: BitSet) {
        for index in 0..<min(words.count, other.words.count) { words[index] &= ~other.words[index] }
        for (page, its) in other.pages {
            guard let mine = pages[page] else { continue }
            pages[page] = zip(mine, its).map { $0 & ~$1 }
        }
        recount()
    }

    func intersection(_ other: BitSet) -> BitSet {
        var common = BitSet()
        common.words = zip(words, other.words).map { $0 & $1 }
        for (page, mine) in pages {
            guard let its = other.pages[page] else { continue }
            common.pages[page] = zip(mine, its).map { $0 & $1 }
        }
        common.recount()
        return common
    }

    /// Whether another set contains all of these.
    func isSubset(of other: BitSet) -> Bool {
        let isNear = words.enumerated().allSatisfy { index, word in
            word & ~(index < other.words.count ? other.words[index] : 0) == 0
        }
        return isNear
            && pages.allSatisfy { page, mine in
                let its = other.pages[page] ?? []
                return mine.enumerated().allSatisfy { index, word in
                    word & ~(index < its.count ? its[index] : 0) == 0
                }
            }
    }

    private mutating func recount() {
        count = words.reduce(0) { $0 + $1.nonzeroBitCount }
        for page in pages.values { count += page.reduce(0) { $0 + $1.nonzeroBitCount } }
    }
}
