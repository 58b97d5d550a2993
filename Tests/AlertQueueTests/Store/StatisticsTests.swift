import AlertQueueTesting
import Testing

@testable import AlertQueue

@Suite("Statistics")
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

    @Test("Each end is counted as what it was, by source and by button")
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
                    _ = try await store.expire(id, by: .keeper)
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

    @Test("Only what persons answered tells how long people take")
    func times() async throws {
        for seconds in [1, 2, 3, 4, 100] {
            let record = try await store.ask(.yesNo())
            clock.advance(by: .milliseconds(500))
            store.post(.presented(record, at: clock.now()), by: .ana)
            clock.advance(by: .seconds(seconds) - .milliseconds(500))
            try await store.answer(record.id, 0)
        }
        let expiring = try await store.ask(.yesNo(deadline: .after(.seconds(1))))
        clock.advance(by: .seconds(5000))
        _ = try await store.expire(expiring.id, by: .keeper)
        let times = try await statistics().timeFromAsked
        #expect(times.count == 5 && times.median == .seconds(3))
        #expect(times.percentile(90) == .seconds(100) && times.shortest == .seconds(1))
        let shown = try await statistics().timeFromPresented
        #expect(shown.count == 5 && shown.median == .milliseconds(2500))
        let bars = times.histogram.filter { $0.count > 0 }
        #expect(bars.map(\.count) == [1, 3, 1] && bars[0].from == .seconds(1))
    }

    @Test("A time limits what was asked from one moment on and before another")
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

    @Test("The oldest is the first that was asked of those that wait")
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

    @Test("Far more names than anybody reads take no more memory")
    func manyNames() async throws {
        for number in 1...1100 { try await store.ask(.yesNo(), source: "source \(number)") }
        let all = try await statistics()
        #expect(all.total.asked == 1100 && all.sources.count == 1000)
    }

    @Test("A cancelled count ends, and says so")
    func cancelled() async throws {
        try await store.ask(.yesNo())
        let store = store
        let counting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await thrown {
                try await store.statistics(StatisticsQuery()) { _, _ in }
            }
        }
        #expect(await counting.value?.kind == "busy")
    }
}

@Suite("Answer times")
struct AnswerTimesTests {
    @Test("Percentiles are the nearest rank of few answers, and close to it of many")
    func percentiles() throws {
        for count in [1, 2, 10, 9999, 10_000, 10_001, 50_000] {
            var times = AnswerTimes()
            var all: [Int64] = []
            for _ in 0..<count {
                // From a millisecond to weeks, evenly by their magnitude.
                let time = Int64(1) << Int64.random(in: 0...30) + Int64.random(in: 0...1000)
                all.append(time)
                times.add(milliseconds: time)
            }
            all.sort()
            for percent in [0, 1, 50, 90, 99, 99.9, 100] as [Double] {
                let rank = min(count, max(1, Int((percent / 100 * Double(count)).rounded(.up))))
                let exact = all[rank - 1]
                let told = try #require(times.percentile(percent)).milliseconds
                let error = abs(told - exact)
                #expect(count <= 10_000 ? error == 0 : error * 100 <= exact, "\(count) \(percent)")
            }
            #expect(times.histogram.reduce(0) { $0 + $1.count } == count)
        }
    }

    @Test("Every time has one narrow bucket, whose middle lies in it")
    func buckets() {
        var last = -1
        for time in [0, 1, 127, 128, 129, 130, 255, 256, 1 << 20, 1 << 40, .max] as [Int64] {
            let place = AnswerTimes.place(of: time)
            #expect(place >= last && AnswerTimes.place(of: AnswerTimes.value(at: place)) == place)
            last = place
        }
    }

    @Test("Without answers there is nothing to tell, and a clock set back counts as no time")
    func edges() {
        var times = AnswerTimes()
        #expect(times.median == nil && times.longest == nil)
        times.add(milliseconds: -5)
        times.add(milliseconds: .max)
        #expect(times.shortest == .zero && times.count == 2)
        #expect(times.histogram.first?.count == 1 && times.histogram.last?.count == 1)
    }
}
