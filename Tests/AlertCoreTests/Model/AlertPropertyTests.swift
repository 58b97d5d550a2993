import FoundationEssentials
import StoreChecks
import TestSupport
import Testing
import TextFormats

@testable import AlertCore

@Suite("Properties of an alert", .inParallel)
struct AlertPropertyTests {
    private static let salt = [UInt8](repeating: 7, count: 16)

    private let asked = Alert.withAllProperties.recorded(source: "test", expiry: nil)

    /// The same alert with another value of a property.
    private func changed(_ property: AlertProperty) -> Alert {
        var alert = asked
        property.change(in: &alert)
        return alert
    }

    private func entry(_ alert: Alert) -> String {
        let leaves = AuditEntry.leaves(of: alert)
        return EntryDetail.Asked(of: alert, isAwaited: true, leaves: leaves, key: nil).terms
    }

    @Test("The sample has every property, and JSON returns each as it was")
    func json() throws {
        let text = try AlertJSON.value(asked, source: "test", record: nil).text()
        #expect(try JSONDecoder().decode(Alert.self, from: Data(text.utf8)) == asked)
        for property in AlertProperty.all {
            #expect(!text.contains("\"\(property.name)\":null"), "\(property.name)")
            let other = changed(property)
            let read = try JSONDecoder().decode(Alert.self, from: JSONEncoder().encode(other))
            #expect(read == other && read != asked, "\(property.name)")
        }
    }

    @Test("The entry of an ask tells each value from another one, by a hash or as a term")
    func entries() throws {
        for property in AlertProperty.all {
            let other = changed(property)
            let isInContent =
                AuditEntry.content(of: asked, salt: Self.salt)
                != AuditEntry.content(of: other, salt: Self.salt)
            #expect(isInContent == (property.term == nil), "\(property.name)")
            let isLeft = property.erasure != .removed
            #expect((entry(asked) != entry(other)) == isLeft, "\(property.name)")
            #expect(entry(other).contains("\"\(property.name)\":") == (property.term != nil))
        }
        let names = AlertProperty.terms.map(\.name)
        #expect(names.allSatisfy { $0 > "deadline_ms" }, "they come after what is not known before")
    }

    @Test("Two questions with one key differ by what the table says")
    func comparison() {
        for property in AlertProperty.all {
            let other = changed(property)
            #expect(other.firstDifference(from: asked) == property.difference, "\(property.name)")
            let digests = [asked, other].map { KeyDigest(of: $0, source: "test", salt: Self.salt) }
            guard property.name != "key" else { continue }
            let isInDigest = property.difference != nil && property.term == nil
            #expect((digests[0] != digests[1]) == isInDigest, "\(property.name)")
        }
    }

    @Test("What was erased comes back with the same question")
    func restored() {
        var record = AlertRecord(
            id: 1, alert: Alert("#1"),
            source: AlertRecord.Source(name: "test", .account(Account(uid: 0)), .link),
            state: .queued, askedAt: Date(), presentedAt: nil, expiresAt: nil, snoozedUntil: nil,
            snoozes: 0, response: nil)
        record.restoreTexts(from: asked)
        for property in AlertProperty.all {
            let isBack = property.isSame(in: record.alert, asked)
            #expect(isBack || property.erasure == .kept, "\(property.name)")
        }
    }
}
