import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Known ends of logs in PostgreSQL", .inParallel)
struct KnownHeadTests {
    private let known = KnownHead()

    /// An entry, as one of several processes writes it.
    private func entry(_ sequence: Int64, by process: UInt8 = 1) -> AuditHead {
        AuditHead(sequence: sequence, hash: [UInt8](repeating: process, count: 32))
    }

    @Test("An entry of another process is news, also if an own one was to have its number")
    func lostCommit() {
        known.expect([entry(1), entry(2)])
        #expect(known.isOwn(entry(1)) && known.isOwn(entry(2)))
        #expect(!known.isOwn(entry(1, by: 2)) && !known.isOwn(entry(3)))
        known.forgetExpected()
        #expect(!known.isOwn(entry(1)))
    }

    @Test("What was committed is no news, and what others committed in between is")
    func commits() {
        known.expect([entry(1), entry(2)])
        #expect(!known.didCommit(from: .start, changes: 0, to: entry(2), changes: 0))
        // Others were told of this one.
        #expect(!known.didCommit(from: entry(2), changes: 0, to: entry(3), changes: 0))
        known.expect([entry(5)])
        #expect(known.didCommit(from: entry(4, by: 2), changes: 0, to: entry(5), changes: 0))
        #expect((1...6).filter { known.isOwn(entry($0)) } == [1, 2, 5])
    }

    @Test("Own entries at the end of the log need not be read")
    func endOfOwn() {
        known.raise(to: entry(3, by: 2), changes: 0)
        known.expect([entry(4), entry(5)])
        _ = known.didCommit(from: entry(3, by: 2), changes: 0, to: entry(5), changes: 0)
        #expect(known.endOfOwn(after: entry(2, by: 2)) == entry(2, by: 2))
        #expect(known.endOfOwn(after: entry(3, by: 2)) == entry(5))
        #expect(known.endOfOwn(after: entry(4)) == entry(5))
        #expect(known.endOfOwn(after: entry(5)) == entry(5))
        known.raise(to: entry(6, by: 2), changes: 0)
        #expect(known.endOfOwn(after: entry(3, by: 2)) == entry(3, by: 2))
    }
}
