import TestSupport
import Testing

@testable import SQLite

@Suite("Unallocated space", .inParallel)
struct UnallocatedSpaceTests {
    /// A leaf page with two cells and a free block between them.
    private func page(type: UInt8 = 13, header: Int = 0) -> [UInt8] {
        var page = [UInt8](repeating: 7, count: 512)
        page.replaceSubrange(
            header..<(header + 8), with: [type, 1, 0x90, 0, 2, 1, 0x80, 0])
        // The last free block, at 0x190, is 16 bytes long.
        page.replaceSubrange(0x190..<0x194, with: [0, 0, 0, 16])
        return page
    }

    @Test("Unallocated space is the gap before the cells, and the free blocks except their heads")
    func gaps() {
        #expect(UnallocatedSpace.of(page(), isFirst: false) == [12..<0x180, 0x194..<0x1A0])
        #expect(UnallocatedSpace.of(page(type: 10), isFirst: false) == [12..<0x180, 0x194..<0x1A0])
        #expect(UnallocatedSpace.of(page(type: 5), isFirst: false) == [16..<0x180, 0x194..<0x1A0])
        #expect(
            UnallocatedSpace.of(page(header: 100), isFirst: true) == [112..<0x180, 0x194..<0x1A0])
    }

    @Test("A malformed page, or one that is not a b-tree's, has no unallocated space")
    func strange() {
        #expect(UnallocatedSpace.of(page(type: 0), isFirst: false) == [])
        for (offset, byte) in [(3, 0xFF), (5, 0xFF), (1, 0xFF), (0x190, 0xFF), (0x192, 0xFF)] {
            var strange = page()
            strange[offset] = UInt8(byte)
            #expect(UnallocatedSpace.of(strange, isFirst: false) == [], "\(offset)")
        }
        var small = page()
        small[0x193] = 2
        #expect(UnallocatedSpace.of(small, isFirst: false) == [])
    }
}
