import AlertCore
import Foundation
import Linux
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Log tail", .inParallel)
struct LogTailTests {
    private let known = LogTail()

    private func head(_ sequence: Int64, _ byte: UInt8 = 1) -> AuditHead {
        AuditHead(sequence: sequence, hash: [UInt8](repeating: byte, count: 32))
    }

    private func commit(
        after start: AuditHead, to end: AuditHead, concernsOthers: Bool = false
    ) -> Bool {
        known.expect(LogTail.Commit(start: start, head: end, concernsOthers: concernsOthers))
        return known.didCommit()
    }

    @Test("A process's own commits that concern no other caller are not news, and are skipped")
    func ownCommits() {
        known.raise(to: head(5))
        #expect(!commit(after: head(5), to: head(6)))
        #expect(!commit(after: head(6), to: head(8)))
        #expect(known.isOwn(since: 5))
        #expect(known.endOfOwn(after: head(6)) == head(8))
        #expect(known.endOfOwn(after: head(4)) == head(4))
    }

    @Test("A commit that concerns other callers is news")
    func foreignCommits() {
        known.raise(to: head(5))
        #expect(commit(after: head(5), to: head(6), concernsOthers: true))
        #expect(!known.isOwn(since: 5))
        #expect(!commit(after: head(6), to: head(7)))
        #expect(known.isOwn(since: 6))
    }

    @Test("A commit that concerns others is news even without an entry, as at the end of a snooze")
    func withoutEntry() {
        known.raise(to: head(5))
        #expect(!commit(after: head(5), to: head(5)))
        #expect(commit(after: head(5), to: head(5), concernsOthers: true))
        #expect(!commit(after: head(5), to: head(6)))
    }

    @Test("An entry of a commit that failed is not taken for this process's own")
    func failedCommit() {
        known.raise(to: head(5))
        known.expect(LogTail.Commit(start: head(5), head: head(6), concernsOthers: false))
        known.didNotCommit()
        known.raise(to: head(6))
        #expect(!known.isOwn(since: 5))
    }

    @Test("Another process's entry before this process's own commit is news")
    func foreign() {
        known.raise(to: head(5))
        #expect(commit(after: head(7), to: head(8)))
        #expect(!known.isOwn(since: 5))
        #expect(known.endOfOwn(after: head(5)) == head(5))
    }

    @Test("A new end of the log is news, unless it is the process's own commit")
    func seenByReader() {
        known.raise(to: head(5))
        known.expect(LogTail.Commit(start: head(5), head: head(6), concernsOthers: false))
        known.raise(to: head(6))
        #expect(known.isOwn(since: 5))
        #expect(!known.didCommit())
        known.expect(LogTail.Commit(start: head(6), head: head(7), concernsOthers: false))
        known.raise(to: head(7, 2))
        #expect(!known.isOwn(since: 6))
        #expect(known.head == head(7, 2))
    }
}
