import AlertCore
import Foundation
import TestSupport
import Testing

@Suite("Canonical bytes", .inParallel)
struct CanonicalBytesTests {
    @Test("Fields are netstrings, and an absent value is a dash")
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

    @Test("One text, two texts and an absent text have different bytes")
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
            + "2:no,4:Nein,6:cancel,-,1:3,1:a,0:,1:z,1:1,2:é,1:2,"
        #expect(AuditEntry.content(of: alert, salt: [1, 255]) == SHA256.hash(Array(text.utf8)))
    }

    @Test("What an erasure leaves of an alert, and its key, are hashed as documented")
    func leavesAndKey() {
        var alert = Alert(
            "Titel", message: "m", buttons: ["Ja", .cancel("Nein", id: "no")], key: "k")
        alert.defaultButton = "Ja"
        // The id “Ja” is also the label, and is erased.
        let leaves = "15:alertq-leaves-1,5:alert,-,1:1,1:k,-,1:0,1:2,-,-,2:no,6:cancel,"
        #expect(AuditEntry.leaves(of: alert) == SHA256.hash(Array(leaves.utf8)))
        let key =
            "12:alertq-key-1,2:00,1:s,1:k,5:alert,5:Titel,1:m,2:Ja,"
            + "1:2,2:Ja,2:Ja,-,2:no,4:Nein,6:cancel,-,1:0,"
        let digest = KeyDigest(of: alert, source: "s", salt: [0])
        #expect(digest?.hash == SHA256.hash(Array(key.utf8)))
    }

    @Test(
        "A text in any form other than a written head is refused",
        arguments: [
            "", "1", "1:", "0:" + ff, "-1:" + ff, "x:" + ff, "1:" + ff + ":", "1:" + ff + "00",
            "+1:" + ff, "01:" + ff, "1:" + ff.uppercased(),
        ])
    func head(text: String) {
        #expect(AuditHead(text) == nil)
        #expect(AuditHead("12:" + Self.ff)?.text == "12:" + Self.ff)
    }

    private static let ff = String(repeating: "ff", count: 32)
}
