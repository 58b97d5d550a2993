import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

@Suite("Statistics", .inParallel)
struct StatisticsTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private func statistics(
        source: String? = nil, since: ClockReading? = nil, until: ClockReading? = nil
    ) async throws -> AlertStatistics {
        let date = { (reading: ClockReading?) in
            reading.map { Timestamp.date(milliseconds: $0.wallMilliseconds) }
        }
        return try await store.statistics(
            StatisticsQuery(source: source, since: date(since), until: date(until))
        ) { _, _ in }
    }

    @Test("Each outcome is counted separately, by source and by button")
    func counts() async throws {
        for (source, ends) in [("a", 0...7), ("b", 0...1)] {
            for end in ends {
                var alert = Alert.yesNo(deadline: .after(.seconds(10)))
                if end == 5 { alert.defaultButton = "No" }
                let id = try await store.ask(alert, source: source).id
                switch end {
                case 0, 1: try await store.answer(id, 0)
                case 2: try await store.answer(id, 1)
                case 3: _ = try await store.resolve(id, .withdraw(), by: .ben)
                case 4: _ = try await store.resolve(id, .cancel(handled: false), by: .ben)
                case 5, 6:
                    clock.advance(by: .seconds(11))
                    _ = try await store.expire(id)
                default: break
                }
            }
        }
        let all = try await statistics()
        #expect(all.total.asked == 10 && all.total.waiting == 1)
        #expect(
            all.total.outcomes == [.answered: 5, .withdrawn: 1, .cancelled: 1, .expired: 2])
        #expect(all.sources.map(\.name) == ["a", "b"])
        #expect(all.sources[1].counts.outcomes == [.answered: 2])
        let buttons = Dictionary(uniqueKeysWithValues: all.buttons.map { ($0.name, $0.counts) })
        #expect(buttons["Yes"]?.outcomes == [.answered: 4])
        #expect(buttons["No"]?.outcomes == [.answered: 1, .cancelled: 1, .expired: 1])
        #expect(all.timeFromAsked.count == 5)
        #expect(try await statistics(source: "b").total.asked == 2)
        #expect(try await statistics(source: "c").total.asked == 0)
    }

    @Test("Only answers by people count for answer times")
    func times() async throws {
        for seconds in [1, 2, 3, 4, 100] {
            let record = try await store.ask(.yesNo())
            clock.advance(by: .milliseconds(500))
            store.post(.presented(record), by: .ana)
            clock.advance(by: .seconds(seconds) - .milliseconds(500))
            try await store.answer(record.id, 0)
        }
        let expiring = try await store.ask(.yesNo(deadline: .after(.seconds(1))))
        clock.advance(by: .seconds(5000))
        _ = try await store.expire(expiring.id)
        let times = try await statistics().timeFromAsked
        #expect(times.count == 5 && times.median == .seconds(3))
        #expect(times.percentile(90) == .seconds(100) && times.shortest == .seconds(1))
        let shown = try await statistics().timeFromPresented
        #expect(shown.count == 5 && shown.median == .milliseconds(2500))
        let bars = times.histogram.filter { $0.count > 0 }
        #expect(bars.map(\.count) == [1, 3, 1] && bars[0].from == .seconds(1))
    }

    @Test("A period includes what was asked from its beginning on and before its end")
    func period() async throws {
        let start = clock.now()
        for _ in 1...4 {
            try await store.ask(.yesNo())
            clock.advance(by: .seconds(10))
        }
        let (second, third) = (start.advanced(by: .seconds(10)), start.advanced(by: .seconds(20)))
        #expect(try await statistics(since: second).total.asked == 3)
        #expect(try await statistics(until: third).total.asked == 2)
        #expect(try await statistics(since: second, until: third).total.asked == 1)
    }

    @Test("The oldest waiting alert is the first one asked among those that wait")
    func oldest() async throws {
        #expect(try await statistics().oldestWaiting == nil)
        var asked: [(id: Alert.ID, at: ClockReading)] = []
        for source in ["a", "b", "a"] {
            asked.append((try await store.ask(.yesNo(), source: source).id, clock.now()))
            clock.advance(by: .seconds(10))
        }
        for (id, at) in asked {
            let date = Timestamp.date(milliseconds: at.wallMilliseconds)
            #expect(try await statistics().oldestWaiting == date)
            try await store.answer(id, 0)
        }
        #expect(try await statistics().oldestWaiting == nil)
    }

    @Test("The number of different names counted is limited")
    func manyNames() async throws {
        for number in 1...1100 { try await store.ask(.yesNo(), source: "source \(number)") }
        let all = try await statistics()
        #expect(all.total.asked == 1100 && all.sources.count == 1000)
    }

    @Test("A cancelled count ends with an error")
    func cancelled() async throws {
        try await store.ask(.yesNo())
        let store = store
        let counting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await thrown {
                try await store.statistics(StatisticsQuery()) { _, _ in }
            }
        }
        #expect(await counting.value?.kind == "cancelled")
    }
}
