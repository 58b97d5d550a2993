import AlertCore
import Foundation
import SQLite
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

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

    @Test("An index that is said to extend beyond the log is made anew")
    func forgedExtent() async throws {
        let first = try await story("Zebra")
        while try await store.indexSomeTexts() {}
        try queue.forge("UPDATE upkeep SET indexed_seq = 9000")
        let second = try await story("Giraffe")
        while try await store.indexSomeTexts() {}
        #expect(try await find("zebra") == [first])
        #expect(try await find("giraffe") == [second])
        #expect(try queue.integer("SELECT indexed_seq FROM upkeep") == 4)
        await store.close()
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
            ("日本語", true), ("日本", true), ("日本*", true), ("本語", true), ("語日", false),
            ("本", true), ("\"new-ish 日\"", true), ("ish日本", true), ("ish本", false),
            ("new ish", true),
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
        arguments: [
            "", " ", "?", "*", "\"\"", "\" \"", "-- !", "\"open", "🎉", "👍🏽 ❤️*", "。、", "\u{301}",
            "\u{200D}", "a\0b",
        ])
    func noWord(text: String) async throws {
        #expect(await thrown { try await find(text) }?.kind == "invalid")
        let long = String(repeating: "word ", count: 300)
        #expect(await thrown { try await find(long) }?.kind == "invalid")
    }

    @Test("Pages by text and any filter equal those of a full search")
    func pages() async throws {
        let words = ["apple", "pear", "plum", "fig"]
        for index in 0..<60 {
            clock.advance(by: .seconds(index % 13 == 12 ? -300 : 7))
            let title = words.enumerated().filter { (index >> $0.offset) & 1 == 1 }.map(\.element)
            try await story(
                (["fruit"] + title).joined(separator: " "), source: "source-\(index % 3)")
            // Some are indexed early, some late, and some only by the search.
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

    @Test("A time is found, too, if the clock was set back before what is not in the index yet")
    func setBack() async throws {
        try await story("apple")
        clock.advance(by: .seconds(1000))
        try await story("apple")
        _ = try await store.indexSomeTexts()
        clock.advance(by: .seconds(-900))
        try await story("apple")
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        #expect(try await find("apple", HistoryFilter(since: now.addingTimeInterval(400))) == [2])
        #expect(
            try await find("apple", HistoryFilter(since: now.addingTimeInterval(-50))) == [3, 2])
        #expect(
            try await find("apple", HistoryFilter(until: now.addingTimeInterval(400))) == [3, 1])
        await store.close()
    }

    @Test("The writer indexes responses by the hundred, and the rest as it closes")
    func writer() async throws {
        for index in 0..<600 { try await story("Number \(index)") }
        #expect(
            try await eventually { try await store.unindexedCount() < Writer.manyUnindexed / 2 })
        #expect(try await store.unindexedCount() > 0)
        await store.close()
        let reopened = try await queue.store(clock: clock)
        #expect(try await reopened.unindexedCount() == 0)
        await reopened.close()
    }

    @Test("Responses that are not in the index are found, too, and a search writes nothing")
    func unindexed() async throws {
        for index in 0..<200 { try await story("Number \(index) of many") }
        try await store.writes.perform(.upkeep, "empty") { try $0.emptyIndex() }
        let other = try queue.connection()
        let version = { try other.first("PRAGMA data_version") { $0.integer() } }
        let before = try version()
        #expect(try await find("many 7*").count == 11)
        #expect(try await find("many 7*", limit: 4, after: 75) == [74, 73, 72, 71])
        #expect(try await store.unindexedCount() == 200)
        #expect(try version() == before)
        await store.close()
    }

    @Test("A page with few rows of a filter among many matches equals that of a full search")
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
        await store.close()
    }

    @Test("What is found is what the words of the core match, in any script, indexed or not")
    func scripts() async throws {
        var random = TestRandom()
        for _ in 0..<150 {
            let texts = (0..<4).map { _ in RandomText.text(&random) }
            try await story(
                "T" + texts[0], message: texts[1], info: ["key": texts[2]],
                buttons: [.init(texts[3] + "b"), .cancel("No")])
        }
        let all = try await store.history(HistoryFilter(), limit: 1000, after: nil)
        for isIndexed in [false, true] {
            if isIndexed { _ = try await store.indexSomeTexts() }
            #expect(try await store.unindexedCount() == (isIndexed ? 0 : 150))
            var hits = 0
            for _ in 0..<150 {
                let query = RandomText.query(&random)
                guard let text = try? SearchText(query) else {
                    #expect(await thrown { try await find(query) }?.kind == "invalid")
                    continue
                }
                let expected = all.filter(text.matches).map(\.id)
                hits += expected.isEmpty ? 0 : 1
                let found = try await find(query, limit: 1000)
                #expect(found == expected, "\(query.unicodeScalars.map(\.value))")
            }
            #expect(hits > 40, "\(hits)")
        }
        await store.close()
    }

    @Test("A damaged index is reported, and can be rebuilt")
    func damage() async throws {
        for index in 0..<50 { try await story("Number \(index)") }
        #expect(try await find("number").count == 50)
        // Only a program that bypasses SQLite's defences can do this.
        await store.close()
        try await damageIndex()
        let reopened = try await queue.store(clock: clock)
        var filter = HistoryFilter()
        filter.text = "number"
        let error = await thrown { try await reopened.history(filter, limit: 10, after: nil) }
        #expect(error.map { "\($0)".contains("--reindex") } == true)
        try await reopened.rebuildTextIndex { _, _ in }
        #expect(try await reopened.history(filter, limit: 100, after: nil).count == 50)
        await reopened.close()
    }

    private func damageIndex() async throws {
        let shell = try await Child.run(
            "sqlite3", queue.path, "UPDATE text_index_data SET block = x'00' WHERE id > 100")
        #expect(shell.code == 0)
    }
}

/// Short texts of few letters of many scripts, so that many of them have parts in common.
private enum RandomText {
    private static let letters: [[String]] = [
        ["a", "B", "é", "e\u{301}", "ß", "İ", "ø", "7", "²"], ["α", "Σ", "ς", "ώ", "Ω"],
        ["и", "й", "Ё", "ж"], ["备", "份", "夜", "𠀀", "々"], ["か", "が", "カ", "ー", "ｶ"],
        ["ก", "ล", "้", "ว", "ย"], ["한", "가", "각", "\u{1112}\u{1161}\u{11AB}", "\u{1100}\u{1161}"],
        ["क", "ि", "त", "्"], ["ب", "َ", "ت"], ["ක", "ා"], ["ខ", "្", "ម"], ["က", "ာ"],
    ]
    private static let others = [
        " ", " ", " ", "-", "\n", "。", "👍🏽", "\u{200B}", "\u{AD}", "\u{FE0F}", "'", "_", "\u{E000}",
    ]

    static func text(_ random: inout TestRandom) -> String {
        part(Int.random(in: 0...9, using: &random), &random)
    }

    private static func part(_ length: Int, _ random: inout TestRandom) -> String {
        var script = letters.randomElement(using: &random) ?? []
        return (0..<length).map { _ in
            switch Int.random(in: 0..<10, using: &random) {
            case 0: script = letters.randomElement(using: &random) ?? []
            case 1: return others.randomElement(using: &random) ?? ""
            default: break
            }
            return script.randomElement(using: &random) ?? ""
        }.joined()
    }

    static func query(_ random: inout TestRandom) -> String {
        let word = part(Int.random(in: 1...3, using: &random), &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "\"\(word)\""
        case 1: return word + "*"
        case 2: return "\"\(word)\"*"
        default: return word
        }
    }
}
