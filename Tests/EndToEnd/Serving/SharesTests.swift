import AlertQueue
import AlertService
import TestSupport
import Testing

@Suite("Shares of what a service has", .inParallel)
struct SharesTests {
    private static func account(_ uid: UInt32) -> Principal { .account(Account(uid: uid)) }

    /// Whether one more was taken.
    private static func take(_ shares: Shares, _ uid: UInt32) -> Bool {
        (try? shares.take(account(uid))) != nil
    }

    @Test("No account has more than its share, and all together not more than all")
    func limits() {
        let shares = Shares("things", 2, ofAll: 3)
        #expect((0..<3).map { _ in Self.take(shares, 1) } == [true, true, false])
        #expect([2, 2, 3].map { Self.take(shares, $0) } == [true, false, false])
        shares.giveBack(Self.account(1))
        #expect([1, 2].map { Self.take(shares, $0) } == [true, false])
    }

    @Test("The refusal says who has how many of what")
    func refusal() throws {
        let shares = Shares("things", 1, ofAll: 9)
        try shares.take(.person("boss"))
        do {
            try shares.take(.person("boss"))
            Issue.record("one more was taken")
        } catch {
            #expect(error.status == 503 && error.detail.contains("person:boss has 1 things"))
        }
    }
}
