import AlertCore
import Foundation
import TestSupport
import Testing

@Suite("SHA-256", .inParallel)
struct SHA256Tests {
    /// NIST's examples for FIPS 180-4, and the shortest of CAVP's SHA256ShortMsg.rsp.
    static let vectors: [(message: [UInt8], hash: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ([0xd3], "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
        (
            Array("abc".utf8),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            Array(
                ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
        (
            Array(repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test("NIST's messages have NIST's hashes", arguments: vectors.indices)
    func nist(index: Int) {
        // The index is the argument, because a test's arguments are printed whole.
        let (message, hash) = Self.vectors[index]
        #expect(Hex.text(SHA256.hash(message)) == hash)
    }

    @Test(
        "Around the borders of blocks it agrees with sha256sum",
        arguments: [
            1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 121, 127, 128, 129, 511, 512, 513, 4095,
            4096, 65_537,
        ])
    func borders(count: Int) async throws {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        let sum = try await Child.run("sha256sum", input: message)
        try #require(sum.code == 0)
        #expect(Hex.text(SHA256.hash(message)) == sum.output.prefix(64))
    }

    @Test("One changed bit changes the hash", arguments: [0, 55, 63, 64, 99])
    func bit(index: Int) {
        var message = [UInt8](repeating: 7, count: 100)
        let hash = SHA256.hash(message)
        message[index] ^= 1
        #expect(SHA256.hash(message) != hash)
    }
}
