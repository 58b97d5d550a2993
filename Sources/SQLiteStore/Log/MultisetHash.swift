import AlertCore

/// A sum over facts, each mixed with a key of this process: it doesn't depend on their order, and
/// other facts with the same sum can't be constructed.
struct MultisetHash: Sendable, Equatable {
    enum Kind: UInt8 {
        case collected
        case response
        case indexedResponse
        case erasedSequence
        case snooze
        case entry
        case erasure
        case handler
    }

    /// Odd, so that multiplying by it loses nothing.
    private static let keys = (
        UInt64.random(in: 0...UInt64.max) | 1, UInt64.random(in: 0...UInt64.max) | 1,
        UInt64.random(in: 0...UInt64.max)
    )
    private var value: UInt64 = 0

    /// Mixes like the finalizer of MurmurHash3 (Appleby), which is not linear: facts that swap
    /// positions have a different sum.
    mutating func add(_ kind: Kind, of id: Int64, _ fact: Int64, times: Int64 = 1) {
        let (first, second, third) = Self.keys
        var bits = UInt64(bitPattern: id) &* first &+ UInt64(kind.rawValue)
        bits = Self.mixed(bits) &+ UInt64(bitPattern: fact) &* second
        value &+= Self.mixed(Self.mixed(bits) &+ third) &* UInt64(bitPattern: times)
    }

    private static func mixed(_ bits: UInt64) -> UInt64 {
        var bits = (bits ^ (bits >> 33)) &* 0xff51_afd7_ed55_8ccd
        bits = (bits ^ (bits >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return bits ^ (bits >> 33)
    }

    mutating func add(_ other: MultisetHash) { value &+= other.value }
}
