/// Memory for the texts and blobs that a statement has bound, from which SQLite reads them.
///
/// Gain: copies that SQLite makes take 6 % of the writer's time with 512 waiting tasks (`perf
/// record alertq-bench ask`, files in memory).
struct BoundBytes: ~Copyable {
    /// From this size on, memory is not kept as long as the statement.
    private static let largestKept = 65_536

    private var block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0
    /// Earlier blocks, to whose bytes parameters are bound.
    private var full: [UnsafeMutableRawBufferPointer] = []

    init() {}

    deinit {
        for block in full { block.deallocate() }
        block.deallocate()
    }

    /// Copies bytes, and returns where they stay until ``removeAll()``.
    mutating func copy(_ source: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        if block.count - used < source.count || block.baseAddress == nil {
            if used > 0 { full.append(block) } else { block.deallocate() }
            block = .allocate(byteCount: max(256, block.count * 2, source.count), alignment: 1)
            used = 0
        }
        let place = UnsafeMutableRawBufferPointer(rebasing: block[used...])
        place.copyMemory(from: source)
        used += source.count
        return place.baseAddress.map { UnsafeRawPointer($0) }
    }

    /// Gives up all bytes, and keeps the largest block for the next ones.
    mutating func removeAll() {
        used = 0
        for block in full { block.deallocate() }
        full.removeAll(keepingCapacity: true)
        guard block.count > Self.largestKept else { return }
        block.deallocate()
        block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}
