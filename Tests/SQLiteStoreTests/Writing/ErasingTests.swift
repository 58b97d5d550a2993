import AlertCore
import Foundation
import Linux
import SQLite
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

@Suite("Erasing", .inParallel)
struct ErasingTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// A text that occurs nowhere else.
    private func secret(_ length: Int, _ random: inout TestRandom) -> String {
        "SECRET"
            + String((0..<length).map { _ in "abcdefgh ".randomElement(using: &random) ?? " " })
    }

    @discardableResult
    private func story(
        _ title: String, message: String? = nil, label: String = "Yes", id: String? = nil,
        key: String? = nil, collects: Bool = true
    ) async throws -> Alert.ID {
        var alert = Alert(
            title, message: message,
            buttons: [Alert.Button(label, id: id), .cancel("No", id: "no")],
            defaultButton: id ?? label, key: key)
        alert.userInfo = ["name": "SECRETinfo"]
        let asked = try await store.ask(alert).id
        try await store.answer(asked, 0)
        if collects { _ = try await store.collect(asked, by: .ana) }
        return asked
    }

    private func erase(
        _ progress: @Sendable (PurgeProgress) -> Void = { _ in }
    ) async throws(AlertError) -> PurgeReport {
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        return try await store.erase(before: now, by: .ben, rewritesFile: true, progress: progress)
    }

    /// The files of the queue that contain a word, in any case.
    private func files(with word: String = "secret") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: queue.directory).filter { name in
            let data = try Data(contentsOf: URL(filePath: queue.directory + "/" + name))
            let folded = Data(data.map { (65...90).contains($0) ? $0 + 32 : $0 })
            return folded.range(of: Data(word.utf8)) != nil
        }
    }

    @Test("An id that was made from a label is erased with it, also in the response")
    func derivedIDs() async throws {
        let labels = ["SECRETlabel", "SECRETlabel"]
        let buttons = labels.enumerated().map { index, label in
            Alert.Button(label, id: index == 0 ? label : "\(label)#2")
        }
        let id = try await store.ask(Alert("T", buttons: buttons + [.cancel("No", id: "no#2")])).id
        try await store.answer(id, 1)
        _ = try await store.collect(id, by: .ana)
        #expect(try await erase().erased == 1)
        #expect(try await store.record(id).alert.buttons.map(\.id).last == "no#2")
        #expect(try files() == [])
        #expect(try await verifies())
        let independent = try await Child.run(
            "python3", AuditVerificationTests.verifier, queue.path)
        #expect(independent.code == 0, "\(independent)")
        await store.close()
    }

    private func verifies() async throws -> Bool {
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.map(\.reason) == [])
        return problems.isEmpty
    }

    @Test("No text of many erased alerts is left in any file, and the log verifies")
    func gone() async throws {
        var random = TestRandom()
        /// A text of one of some lengths.
        func secret(_ lengths: Int...) -> String {
            self.secret(lengths.randomElement(using: &random) ?? 5, &random)
        }
        var waiting: [Alert.ID] = []
        for number in 0..<1500 {
            var alert = Alert(
                secret(5, 40, 200),
                message: number % 3 == 0
                    ? secret(30, 300, 6000) : number % 100 == 1 ? secret(60_000) : nil,
                buttons: [Alert.Button(secret(3, 10, 60)), .cancel("No")])
            alert.userInfo = number % 5 == 0 ? [secret(5): secret(50)] : [:]
            waiting.append(try await store.ask(alert, source: "source \(number % 7)").id)
            if number % 4 == 0, let id = waiting.randomElement(using: &random) {
                store.post(.presented(try await store.record(id)), by: .ana)
            }
            // Answered in a different order than asked, so that rows move between pages.
            while waiting.count > [0, 5, 100].randomElement(using: &random) ?? 0 {
                let id = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                try await store.answer(id, 0)
                _ = try await store.collect(id, by: .ana)
            }
            if number == 700 { try await store.rebuildTextIndex { _, _ in } }
            if number % 300 == 299 { _ = try await store.indexSomeTexts() }
        }
        for id in waiting { _ = try await store.resolve(id, .withdraw(), by: .ben) }
        for id in waiting { _ = try await store.collect(id, by: .ana) }
        #expect(try !files().isEmpty)
        let report = try await erase()
        #expect(report.erased == 1500)
        #expect(report.isComplete && report.uncollected == 0)
        #expect(try files() == [])
        #expect(try await verifies())
        #expect(try await store.structuralDamage() == [])
        try await store.checkTextIndex()
        await store.close()
        #expect(try files() == [])
    }

    @Test("Texts in the unused space of a page are overwritten, and nothing else is")
    func leftOver() async throws {
        for number in 0..<200 { try await story("Title \(number)") }
        await store.close()
        let url = URL(filePath: queue.path)
        var bytes = [UInt8](try Data(contentsOf: url))
        var planted = 0
        for page in 0..<(bytes.count / 4096) {
            let start = page * 4096
            guard let gap = Self.gap(in: bytes[start..<start + 4096], isFirst: page == 0),
                gap.count >= 6
            else { continue }
            bytes.replaceSubrange(gap.prefix(6), with: Array("SECRET".utf8))
            planted += 1
        }
        try Data(bytes).write(to: url)
        #expect(planted > 20)
        let reopened = try await queue.store(clock: clock)
        #expect(try await reopened.structuralDamage() == [])
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        #expect(
            try await reopened.erase(before: now, by: .ben, rewritesFile: true) { _ in }.erased
                == 200)
        #expect(try files() == [])
        #expect(try await reopened.structuralDamage() == [])
        await reopened.close()
    }

    /// The unused bytes before the cells of a page; `nil` if it is not a b-tree's. See
    /// <https://sqlite.org/fileformat2.html#b_tree_pages>.
    private static func gap(in page: ArraySlice<UInt8>, isFirst: Bool) -> Range<Int>? {
        let header = page.startIndex + (isFirst ? 100 : 0)
        let number = { (at: Int) in Int(page[header + at]) << 8 | Int(page[header + at + 1]) }
        let lengths: [UInt8: Int] = [2: 12, 5: 12, 10: 8, 13: 8]
        guard let length = lengths[page[header]] else { return nil }
        let (start, end) = (header + length + 2 * number(3), page.startIndex + number(5))
        return start < end ? start..<end : nil
    }

    @Test("Responses stay under their keys, without texts and without ids that were labels")
    func record() async throws {
        try await story("SECRET", message: "SECRET", label: "SECRETyes", key: "k")
        try await story("SECRET", label: "SECRETyes", id: "yes")
        #expect(try await erase().erased == 2)
        let first = try await store.record(1)
        #expect(first.isErased)
        #expect(first.alert.title == "#1")
        #expect(first.alert.message == nil)
        #expect(first.alert.userInfo.isEmpty)
        #expect(first.alert.buttons.map(\.id) == ["#0", "no"])
        #expect(first.alert.buttons.map(\.title) == ["#0", "#1"])
        #expect(first.alert.buttons.map(\.role) == [nil, .cancel])
        #expect(first.alert.defaultButton == nil)
        #expect(first.response?.buttonIndex == 0)
        #expect(first.response?.responder?.account?.name == "ana")
        let second = try await store.record(2)
        #expect(second.response?.button?.id == "yes")
        #expect(second.alert.defaultButton == "yes")
        let history = try await store.history(HistoryFilter(button: "yes"), limit: 10, after: nil)
        #expect(history.map(\.id) == [2])
        await store.close()
    }

    @Test("Waiting, new and uncollected alerts keep their texts")
    func kept() async throws {
        try await story("SECRET old")
        try await story("Uncollected", collects: false)
        try await store.ask(.yesNo("Waiting"))
        clock.advance(by: .seconds(10))
        let cutoff = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        try await story("New")
        #expect(try await store.erasable(before: cutoff, by: .ben).erased == 1)
        let report = try await store.erase(before: cutoff, by: .ben, rewritesFile: true) { _ in }
        #expect(report.erased == 1 && report.uncollected == 1)
        var titles: [String] = []
        for id in 1...4 as ClosedRange<Int64> {
            titles.append(try await store.record(id).alert.title)
        }
        #expect(titles == ["#1", "Uncollected", "Waiting", "New"])
        let again = try await store.erase(before: cutoff, by: .ben, rewritesFile: true) { _ in }
        #expect(again.erased == 0 && again.uncollected == 1 && again.isComplete)
        #expect(try await verifies())
        var filter = HistoryFilter(text: "old")
        #expect(try await store.history(filter, limit: 10, after: nil).isEmpty)
        filter.text = "new"
        #expect(try await store.history(filter, limit: 10, after: nil).map(\.id) == [4])
        await store.close()
    }

    @Test("The log records whose texts were erased, and by whom")
    func entry() async throws {
        for _ in 0..<3 { try await story("SECRET") }
        try await story("Kept", collects: false)
        try await story("SECRET")
        _ = try await erase()
        let entry = try #require(try await store.entries(limit: 100).last)
        #expect(entry.event.kind == .erased)
        #expect(entry.event.alertID == nil)
        #expect(entry.detail == #"{"alerts":[1,3,5,5]}"#)
        #expect(entry.event.responder.account?.name == "ben")
        #expect(entry.erasedAlerts?.ranges == [1...3, 5...5])
        for other in [
            #"{"alerts":[]}"#, #"{"alerts":[3,1]}"#, #"{"alerts":[2,2,1,1]}"#, #"{"alerts":[1]}"#,
            #"{"alerts":[1,2,3,3]}"#, #"{"alerts":["1",2]}"#, #"{"alerts":[0,1]}"#, "[1,1]", "x",
        ] {
            #expect(EntryDetail(other, of: .erased, nil) == nil, "\(other)")
        }
        await store.close()
    }

    @Test("A reader blocks an erasure, too, that began to read when the log was empty")
    func readerOfEmptyLog() async throws {
        try await story("SECRET")
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let report = try await store.erase(before: now, by: .ben, rewritesFile: false) { _ in }
        #expect(report.erased == 1 && !report.isComplete)
        await store.close()
        let reopened = try await queue.store(clock: clock)
        let reader = try queue.connection()
        try reader.execute("BEGIN")
        _ = try reader.first("SELECT count(*) FROM alerts") { $0.integer() }
        let erase = {
            try await reopened.erase(before: now, by: .ben, rewritesFile: true) { _ in }
        }
        #expect(await thrown { try await erase() }?.kind == "busy")
        #expect(try await !reopened.isErasureComplete())
        try reader.execute("ROLLBACK")
        #expect(try await erase().isComplete)
        #expect(try files() == [])
        await reopened.close()
    }

    @Test("An erasure cancelled while the file is rewritten is completed by the next one")
    func cancelledRewriting() async throws {
        for number in 0..<300 { try await story("SECRET \(number)") }
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let work = Task { [store] in
            try await store.erase(before: now, by: .ben, rewritesFile: true) { progress in
                if progress.phase == .file { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        #expect(try await !work.value.isComplete)
        #expect(try await !store.isErasureComplete())
        #expect(try await verifies())
        #expect(try await erase().isComplete)
        #expect(try files() == [])
        await store.close()
    }

    @Test("The log of a file that has been rewritten, and can't be emptied, blocks no question")
    func rewrittenLog() async throws {
        try await store.writes.perform(.answer, "fill") { context in
            try context.db.run("CREATE TABLE filler (bytes BLOB)")
            for _ in 0..<50 { try context.db.run("INSERT INTO filler VALUES (zeroblob(1 << 20))") }
        }
        try await story("SECRET")
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        _ = try await store.erase(before: now, by: .ben, rewritesFile: false) { _ in }
        try await store.writes.performAlone("empty the log") { writer in
            let isEmptied = try writer.db().checkpoint(.truncate)
            #expect(isEmptied)
        }
        let reader = try queue.connection()
        try reader.execute("BEGIN")
        _ = try reader.first("SELECT count(*) FROM alerts") { $0.integer() }
        try await store.writes.performAlone("rewrite") { [directory = queue.directory] writer in
            try writer.db().vacuum(copyingIn: directory) { false }
            let isEmptied = try writer.db().checkpoint(.truncate)
            #expect(!isEmptied)
        }
        #expect(FileIdentity.size(of: queue.path + "-wal") > 50 << 20)
        try await store.ask(.yesNo("Meanwhile"))
        try reader.execute("ROLLBACK")
        #expect(try await erase().isComplete)
        #expect(try files() == [])
        await store.close()
    }

    @Test("While a reader blocks an erasure, it fails as busy; the next one completes it")
    func stuckReader() async throws {
        try await story("SECRET")
        _ = try await store.indexSomeTexts()
        let reader = try queue.connection()
        try reader.execute("BEGIN")
        _ = try reader.first("SELECT count(*) FROM alerts") { $0.integer() }
        #expect(await thrown { try await erase() }?.kind == "busy")
        #expect(try await store.erasable(before: Date(), by: .ben).isComplete == false)
        #expect(try !files().isEmpty)
        try reader.execute("ROLLBACK")
        let report = try await erase()
        #expect(report.erased == 0 && report.isComplete)
        #expect(try files() == [])
        #expect(try await store.erasable(before: Date(), by: .ben).isComplete)
        await store.close()
    }

    @Test("Alerts that need no collecting are erased, except those that a handler waits for")
    func needless() async throws {
        for handler in [nil, "job"] {
            var notice = Alert("SECRET notice")
            notice.handler = handler
            let told = try await store.ask(notice).id
            _ = try await store.resolve(told, .withdraw(), by: .ben)
            var question = Alert.yesNo("SECRET question")
            question.handler = handler
            _ = try await store.resolve(try await store.ask(question).id, .withdraw(), by: .ben)
            notice.title = "SECRET seen"
            _ = try await store.resolve(try await store.ask(notice).id, .dismiss, by: .ana)
        }
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let expected = try await store.erasable(before: now, by: .ben)
        #expect(expected.erased == 3 && expected.uncollected == 3)
        let report = try await erase()
        #expect(report.erased == 3 && report.uncollected == 3)
        for id in 1...6 as ClosedRange<Int64> {
            #expect(try await store.record(id).isErased == (id <= 3))
        }
        // A process that comes later finds the outcome, and the log stays whole.
        for id in 1...6 as ClosedRange<Int64> { _ = try await store.collect(id, by: .ana) }
        #expect(try await verifies())
        #expect(try await erase().erased == 3)
        #expect(try files() == [])
        #expect(try await verifies())
        await store.close()
    }

    @Test("An erasure cancelled before anything was erased leaves nothing to complete")
    func cancelledAtOnce() async throws {
        try await story("SECRET")
        let work = Task { [self] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await erase()
        }
        let report = try await work.value
        #expect(report.erased == 0 && report.isComplete)
        #expect(try await store.isErasureComplete())
        await store.close()
    }

    @Test("A cancelled erasure loses nothing, and the next one completes it")
    func cancelled() async throws {
        for number in 0..<900 { try await story("SECRET \(number)") }
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let work = Task { [store] in
            try await store.erase(before: now, by: .ben, rewritesFile: true) { progress in
                if progress.done >= 300 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        let report = try await work.value
        #expect((300..<900).contains(report.erased))
        #expect(!report.isComplete)
        #expect(try await verifies())
        let rest = try await erase()
        #expect(rest.erased == 900 - report.erased && rest.isComplete)
        #expect(try files() == [])
        #expect(try await verifies())
        await store.close()
    }

    @Test("Another connection's pages in memory don't bring a text back")
    func staleCache() async throws {
        let other = try await queue.store(clock: clock)
        var random = TestRandom()
        for number in 0..<300 {
            try await story(secret(100, &random), label: secret(20, &random))
            try await other.answer(try await other.ask(.yesNo("SECRET \(number)")).id, 0)
        }
        for id in stride(from: 2, through: 600, by: 2) as StrideThrough<Int64> {
            _ = try await other.collect(id, by: .ana)
        }
        #expect(try await erase().erased == 600)
        // Writes to pages that it has read before.
        for id in 1...600 as ClosedRange<Int64> where id % 7 == 0 {
            store.post(.presented(try await store.record(id)), by: .ana)
            other.post(.presented(try await other.record(id)), by: .ana)
        }
        for _ in 0..<100 { try await other.ask(.yesNo("Plain")) }
        await other.close()
        await store.close()
        #expect(try files() == [])
    }
}
