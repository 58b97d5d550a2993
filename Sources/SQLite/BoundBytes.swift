/// Memory for the texts and blobs that a statement has bound, from which SQLite reads them.
///
/// Gain: copies that SQLite makes take 6 % of the writer's time with 512 waiting tasks (`perf
/// record alertq-bench ask`, files in memory).
struct BoundBytes: ~Copyable {
    /// As much as the questions of one statement need, unless their texts are long.
    static let capacity = 4096

    private var block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0

    deinit { block.deallocate() }

    /// Copies bytes, and returns where they stay until ``removeAll()``; `nil` if there is no room.
    mutating func copy(_ source: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard source.count <= Self.capacity - used else { return nil }
        if block.baseAddress == nil { block = .allocate(byteCount: Self.capacity, alignment: 1) }
        let place = block.baseAddress.map { $0 + used }
        if let place, let start = source.baseAddress {
            place.copyMemory(from: start, byteCount: source.count)
        }
        used += source.count
        return place.map { UnsafeRawPointer($0) }
    }

    mutating func removeAll() { used = 0 }
}
