import AlertCore
import AlertQueueTesting
import Foundation
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Text search", .inParallel)
struct TextSearchTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// Asks and answers; returns the alert's id.
    @discardableResult
    private func story(
        _ title: String, message: String? = nil, info: [String: String] = [:],
        buttons: [Alert.Button] = ["Yes", .cancel("No")], source: String = "test"
    ) async throws -> Alert.ID {
        var alert = Alert(title, message: message, buttons: buttons)
        alert.userInfo = info
        let id = try await store.ask(alert, source: source).id
        try await store.answer(id, 0)
        return id
    }

    private func find(
        _ text: String, _ filter: HistoryFilter = HistoryFilter(), limit: Int = 100,
        after: Alert.ID? = nil
    ) async throws -> [Alert.ID] {
        var filter = filter
        filter.text = text
        return try await store.history(filter, limit: limit, after: after).map(\.id)
    }

    @Test(
        "Words are found in title, message, labels and info, whatever their case and accents",
        arguments: [
            ("old", true), ("SNAPSHOTS", true), ("snapshots old", true), ("nas", true),
            ("gigabytes", true), ("verwirf", true), ("größe", true), ("GROSSE", false),
            ("grosse", false), ("Große", true), ("\"old snapshots\"", true),
            ("\"snapshots old\"", false), ("snap", false), ("snap*", true), ("sn* ol*", true),
            ("\"old snap\"*", true), ("naïve", true), ("naive", true), ("old ?", true),
            ("host", false), ("remove", false), ("old AND nothing", false), ("old OR", false),
            ("title:old", false), ("NOT old", false), ("o'brien", true), ("new-ish", true),
            ("日本語", true), ("日本", false), ("日本*", true),
            ("old *", true), ("^old", true), ("(old", true), ("{old}", true), ("-old", true),
        ])
    func words(text: String, isFound: Bool) async throws {
        try await story(
            "Prune old snapshots?", message: "40 gigabytes, Größe naïve, O'Brien's new-ish 日本語",
            info: ["host": "nas"], buttons: [.init("Verwirf", id: "remove"), .cancel("No")])
        try await story("Something else")
        #expect(try await find(text) == (isFound ? [1] : []))
    }

    @Test(
        "A text without a word is refused",
        arguments: ["", " ", "?", "*", "\"\"", "\" \"", "-- !", "\"open", "🎉", "a\0b"])
    func noWord(text: String) async throws {
        #expect(await thrown { try await find(text) }?.kind == "invalid")
        let long = String(repeating: "word ", count: 300)
        #expect(await thrown { try await find(long) }?.kind == "invalid")
    }

    @Test("Pages by text and any filter are those of a search through everything")
    func pages() async throws {
        let words = ["apple", "pear", "plum", "fig"]
        for index in 0..<60 {
            clock.advance(by: .seconds(index % 13 == 12 ? -300 : 7))
            let title = words.enumerated().filter { (index >> $0.offset) & 1 == 1 }.map(\.element)
            try await story(
                (["fruit"] + title).joined(separator: " "), source: "source-\(index % 3)")
            // Some are indexed early, some late, some never until the search.
            if index % 17 == 0 { _ = try await store.indexSomeTexts() }
        }
        let all = try await store.history(HistoryFilter(), limit: 1000, after: nil)
        let middle = Timestamp.date(milliseconds: clock.now().wallMilliseconds - 100_000)
        for word in words + ["fruit", "apple fig", "nothing"] {
            for filter in [
                HistoryFilter(), HistoryFilter(source: "source-1"), HistoryFilter(since: middle),
                HistoryFilter(until: middle), HistoryFilter(source: "source-2", until: middle),
                HistoryFilter(outcome: .withdrawn), HistoryFilter(button: "Yes"),
                HistoryFilter(uncollected: true),
            ] {
                let expected = all.filter { record in
                    let at = record.response?.resolvedAt ?? .distantPast
                    return word.split(separator: " ").allSatisfy {
                        record.alert.title.split(separator: " ").contains($0)
                    } && filter.source.map { $0 == record.source.name } ?? true
                        && filter.since.map { at >= $0 } ?? true
                        && filter.until.map { at < $0 } ?? true && filter.outcome != .withdrawn
                }.map(\.id).sorted(by: >)
                var found: [Alert.ID] = []
                while true {
                    let page = try await find(word, filter, limit: 4, after: found.last)
                    found += page
                    if page.count < 4 { break }
                }
                #expect(found == expected, "\(word) \(filter)")
            }
        }
    }

    @Test("What is not indexed yet is found all the same")
    func tail() async throws {
        for index in 0..<450 { try await story("Number \(index) of many") }
        let read = try await store.read("search") { db in
            let text = try SearchText("many 7*")
            return try TextSearch(db: db, text: text, filter: HistoryFilter(), limit: 20)
                .page(before: nil)
        }
        #expect(try await store.unindexedCount() == 450)
        #expect(read.count == 11)
        #expect(try await find("many 7*").count == 11)
        #expect(try await store.unindexedCount() == 0)
    }

    @Test("A page with few rows of a filter among many matches is that of a search through all")
    func leading() async throws {
        for index in 0..<700 {
            try await story(
                index % 2 == 0 ? "even number" : "odd number",
                source: index % 150 == 0 ? "rare" : "common")
        }
        #expect(try await find("number", .init(source: "rare")) == [601, 451, 301, 151, 1])
        #expect(try await find("even", .init(source: "rare")) == [601, 451, 301, 151, 1])
        #expect(try await find("odd", .init(source: "rare")) == [])
        #expect(try await find("odd", .init(source: "common"), limit: 2) == [700, 698])
        // As if there were more than can be compared, and by an index in memory.
        for title in ["even", "odd", "number"] {
            let found = try await store.read("search") { db in
                var filter = HistoryFilter(source: "rare")
                filter.text = title
                var search = TextSearch(
                    db: db, text: try SearchText(title), filter: filter, limit: 4)
                search.fewMatches = 20
                search.probeLengths = [10, 10]
                return try search.page(before: nil)
            }
            #expect(found == (title == "odd" ? [] : [601, 451, 301, 151]))
        }
        await store.close()
    }

    @Test("A damaged index is told, and built anew")
    func damage() async throws {
        for index in 0..<50 { try await story("Number \(index)") }
        #expect(try await find("number").count == 50)
        let other = try queue.connection()
        try other.execute("PRAGMA writable_schema = ON")
        // Only a program that goes round SQLite's defences can do this.
        await store.close()
        try await damageIndex()
        let reopened = try await queue.store(clock: clock)
        var filter = HistoryFilter()
        filter.text = "number"
        let error = await thrown { try await reopened.history(filter, limit: 10, after: nil) }
        #expect(error.map { "\($0)".contains("--reindex") } == true)
        try await reopened.emptyTextIndex()
        #expect(try await reopened.history(filter, limit: 100, after: nil).count == 50)
        await reopened.close()
    }

    private func damageIndex() async throws {
        let shell = try await Child.run(
            "sqlite3", queue.path, "UPDATE text_index_data SET block = x'00' WHERE id > 100")
        #expect(shell.code == 0)
    }
}
