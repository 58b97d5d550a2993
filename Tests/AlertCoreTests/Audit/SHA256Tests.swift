import AlertCore
import Foundation
import TestSupport
import Testing

@Suite("SHA-256")
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

@Suite("Canonical bytes")
struct CanonicalBytesTests {
    @Test("Fields are netstrings, and what is absent is a dash")
    func golden() {
        let canonical = HashInput("kind")
        canonical.append("é")
        canonical.append("")
        canonical.append(nil as String?)
        canonical.append(-12 as Int64?)
        canonical.append(nil as Int64?)
        canonical.append(hex: [0, 0xAB])
        canonical.append(hex: nil)
        let text = String(decoding: canonical.bytes, as: UTF8.self)
        #expect(text == "4:kind,2:é,0:,-,3:-12,-,4:00ab,-,")
    }

    @Test("A text can't pass for two, nor for an absent one")
    func unmistakable() {
        func bytes(_ texts: [String?]) -> [UInt8] {
            let canonical = HashInput("kind")
            for text in texts { canonical.append(text) }
            return canonical.bytes
        }
        let different: [[String?]] = [
            ["a", "b"], ["ab"], ["ab", ""], ["a,1:b"], ["-,"], [nil], [""],
        ]
        #expect(Set(different.map(bytes)).count == different.count)
    }

    @Test("The content of an alert is hashed as documented")
    func content() {
        let alert = Alert(
            "Titel", message: nil, style: .actionSheet,
            buttons: ["Ja", .cancel("Nein", id: "no")], deadline: .after(.seconds(1)),
            defaultButton: "no", handler: "h", presenters: ["web"],
            userInfo: ["z": "1", "é": "2", "a": ""])
        let text =
            "16:alertq-content-1,4:01ff,11:actionSheet,5:Titel,-,2:no,1:1,-,1:h,1:1,3:web,"
            + "1:2,2:Ja,2:Ja,-,"
            + "2:no,4:Nein,6:cancel,1:3,1:a,0:,1:z,1:1,2:é,1:2,"
        #expect(AuditEntry.content(of: alert, salt: [1, 255]) == SHA256.hash(Array(text.utf8)))
    }

    @Test("What an erasure leaves of an alert, and its key, are hashed as documented")
    func leavesAndKey() {
        var alert = Alert(
            "Titel", message: "m", buttons: ["Ja", .cancel("Nein", id: "no")], key: "k")
        alert.defaultButton = "Ja"
        // “Ja” is a label, too, and is erased.
        let leaves = "15:alertq-leaves-1,5:alert,-,1:1,1:k,-,1:0,1:2,-,-,2:no,6:cancel,"
        #expect(AuditEntry.leaves(of: alert) == SHA256.hash(Array(leaves.utf8)))
        let key =
            "12:alertq-key-1,2:00,1:s,1:k,5:alert,5:Titel,1:m,2:Ja,"
            + "1:2,2:Ja,2:Ja,-,2:no,4:Nein,6:cancel,1:0,"
        let digest = KeyDigest(of: alert, source: "s", salt: [0])
        #expect(digest?.hash == SHA256.hash(Array(key.utf8)))
    }

    @Test(
        "Only a head that was written is read",
        arguments: [
            "", "1", "1:", "0:" + ff, "-1:" + ff, "x:" + ff, "1:" + ff + ":", "1:" + ff + "00",
        ])
    func head(text: String) {
        #expect(AuditHead(text) == nil)
        #expect(AuditHead("12:" + Self.ff)?.text == "12:" + Self.ff)
    }

    private static let ff = String(repeating: "ff", count: 32)
}

extension SHA256 {
    /// Hashes a whole message.
    fileprivate static func hash(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        message.withUnsafeBytes { message in
            digest.withUnsafeMutableBytes { hash(message, into: $0) }
        }
        return digest
    }
}
