import Linux

/// The SHA-256 hash function of FIPS 180-4.
///
/// It is one small file of our own instead of a dependency, so that the default build needs only
/// SQLite; it is tested with NIST's vectors (CAVP, SHAVS byte-oriented messages). Verifying a log
/// is mostly hashing; hence the unsafe buffers, and rounds written so that no word has to move. If
/// the processor has instructions for SHA-256, they are used.
package struct SHA256: Sendable {
    /// The length of a hash in bytes.
    package static let byteCount = 32

    private typealias Word = UInt32
    private typealias Words = UnsafeMutablePointer<UInt32>

    private var state: SIMD8<UInt32> = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
        0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    private let withInstructions: Bool

    private init(withInstructions: Bool) { self.withInstructions = withInstructions }

    /// Hashes a whole message into a buffer of ``byteCount`` bytes.
    package static func hash(
        _ message: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer
    ) {
        hash(message, into: digest, withInstructions: hasInstructions)
    }

    /// The digest of a message.
    package static func hash(of message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            message.withUnsafeBytes { hash($0, into: UnsafeMutableRawBufferPointer(digest)) }
            count = byteCount
        }
    }

    /// Whether the processor has instructions for SHA-256.
    package static let hasInstructions = SHA256Instructions.areThere

    package static func hash(
        _ message: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer,
        withInstructions: Bool
    ) {
        precondition(digest.count >= byteCount)
        var hasher = SHA256(withInstructions: withInstructions)
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            guard let words = schedule.baseAddress else { return }
            var rest = message
            if withInstructions, let blocks = rest.baseAddress {
                hasher.compress(blocks, count: rest.count / 64)
                rest = UnsafeRawBufferPointer(rebasing: rest[(rest.count / 64 * 64)...])
            }
            while rest.count >= 64, let block = rest.baseAddress {
                hasher.compress(block, words)
                rest = UnsafeRawBufferPointer(rebasing: rest[64...])
            }
            hasher.finish(rest, bitCount: UInt64(message.count) * 8, words)
        }
        for index in 0..<8 {
            digest.storeBytes(
                of: hasher.state[index].bigEndian, toByteOffset: index * 4, as: UInt32.self)
        }
    }

    /// Pads the rest of the message with a one bit, zeros and the message's length in bits.
    private mutating func finish(
        _ rest: UnsafeRawBufferPointer, bitCount: UInt64, _ words: Words
    ) {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { tail in
            guard let start = tail.baseAddress else { return }
            tail.copyBytes(from: rest)
            let length = rest.count < 56 ? 64 : 128
            tail[rest.count] = 0x80
            for index in (rest.count + 1)..<(length - 8) { tail[index] = 0 }
            tail.storeBytes(of: bitCount.bigEndian, toByteOffset: length - 8, as: UInt64.self)
            if withInstructions { return compress(UnsafeRawPointer(start), count: length / 64) }
            compress(UnsafeRawPointer(start), words)
            if length == 128 { compress(UnsafeRawPointer(start + 64), words) }
        }
    }

    /// Compresses blocks of 64 bytes into the state with the processor's instructions.
    private mutating func compress(_ blocks: UnsafeRawPointer, count: Int) {
        withUnsafeMutablePointer(to: &state) { state in
            state.withMemoryRebound(to: UInt32.self, capacity: 8) { words in
                roundConstants.withUnsafeBufferPointer { constants in
                    SHA256Instructions.compress(
                        blocks, count: count, into: words, constants: constants.baseAddress)
                }
            }
        }
    }

    /// Compresses one block of 64 bytes into the state: FIPS 180-4, section 6.2.2.
    private mutating func compress(_ block: UnsafeRawPointer, _ words: Words) {
        for index in 0..<16 {
            let word = block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
            words[index] = UInt32(bigEndian: word)
        }
        for index in 16..<64 {
            let early = words[index &- 15]
            let late = words[index &- 2]
            let small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early &>> 3)
            let small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late &>> 10)
            words[index] = words[index &- 16] &+ small0 &+ words[index &- 7] &+ small1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        roundConstants.withUnsafeBufferPointer { constants in
            guard let constants = constants.baseAddress else { return }
            var index = 0
            while index < 64 {
                // After eight rounds every word is back in its own variable.
                mix(a, b, c, &d, e, f, g, &h, constants[index] &+ words[index])
                mix(h, a, b, &c, d, e, f, &g, constants[index &+ 1] &+ words[index &+ 1])
                mix(g, h, a, &b, c, d, e, &f, constants[index &+ 2] &+ words[index &+ 2])
                mix(f, g, h, &a, b, c, d, &e, constants[index &+ 3] &+ words[index &+ 3])
                mix(e, f, g, &h, a, b, c, &d, constants[index &+ 4] &+ words[index &+ 4])
                mix(d, e, f, &g, h, a, b, &c, constants[index &+ 5] &+ words[index &+ 5])
                mix(c, d, e, &f, g, h, a, &b, constants[index &+ 6] &+ words[index &+ 6])
                mix(b, c, d, &e, f, g, h, &a, constants[index &+ 7] &+ words[index &+ 7])
                index &+= 8
            }
        }
        state = state &+ SIMD8(a, b, c, d, e, f, g, h)
    }

    /// One round: only the words that it calls `d` and `h` get new values.
    @inline(__always)
    private func mix(
        _ a: Word, _ b: Word, _ c: Word, _ d: inout Word, _ e: Word, _ f: Word, _ g: Word,
        _ h: inout Word, _ input: Word
    ) {
        let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
        // The same as (e & f) ^ (~e & g), and below as (a & b) ^ (a & c) ^ (b & c).
        let first = h &+ sum1 &+ (g ^ (e & (f ^ g))) &+ input
        let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
        d = d &+ first
        h = first &+ sum0 &+ ((a & b) | (c & (a | b)))
    }
}

@inline(__always)
private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    (word &>> count) | (word &<< (32 &- count))
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
private let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
]
