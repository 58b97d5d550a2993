import AlertQueueTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Responses to be tried again", .inParallel)
struct RetryListTests {
    private let now = ManualClock().now()

    private func after(_ seconds: Int) -> ClockReading { now.advanced(by: .seconds(seconds)) }

    private func retry(
        _ id: Alert.ID, failures: Int = 1, in seconds: Int
    ) -> RetryList.Retry {
        .init(id: id, failures: failures, due: after(seconds))
    }

    @Test("A full list forgets the response that is due last, and remembers that it did")
    func full() {
        var list = RetryList(limit: 2, pause: .seconds(60))
        list.add(retry(1, failures: 7, in: 100), at: now)
        list.add(retry(2, in: 5), at: now)
        #expect(list.forgotten == nil && list[1]?.failures == 7)
        list.add(retry(3, in: 1), at: now)
        #expect(list[1] == nil && list[2] != nil && list[3] != nil)
        #expect(list.forgotten?.failures == 7)
        #expect(list.nextMoment(after: now) == after(1))
        #expect(list.nextMoment(after: after(1)) == after(5))
        #expect(list.nextMoment(after: after(5)) == after(100))
        #expect(list.nextMoment(after: after(100)) == nil)
        #expect(list.due(at: after(4)).map(\.id) == [3])
        #expect(Set(list.due(at: after(9)).map(\.id)) == [2, 3])
        list.remove(3)
        #expect(list[3] == nil && list.due(at: now).isEmpty)
    }

    @Test("The store is read again when a forgotten response is due, but never before the pause")
    func recall() {
        var list = RetryList(limit: 1, pause: .seconds(60))
        for id in 1...1000 as ClosedRange<Int64> { list.add(retry(id, in: Int(id)), at: now) }
        #expect(list[1] != nil && list[2] == nil)
        #expect(list.recall(at: after(59)) == nil)
        #expect(list.recall(at: after(60))?.failures == 1)
        #expect(list.recall(at: after(600)) == nil)
        list.add(retry(5, in: 300), at: now)
        #expect(list.recall(at: after(299)) == nil)
        #expect(list.recall(at: after(300)) != nil)
    }

    @Test("What has waited longest comes first")
    func order() {
        let (one, two, three) = (retry(1, in: 7), retry(2, in: 5), retry(3, in: 5))
        let sorted = [one, three, two].sorted { RetryList.isEarlier($0, $1, at: after(9)) }
        #expect(sorted.map(\.id) == [2, 3, 1])
    }

    @Test("The pause after a failure doubles, up to ten minutes")
    func delays() {
        let seconds = [1, 2, 3, 10, 11, 1000].map { RetryList.delay(after: $0).components.seconds }
        #expect(seconds == [1, 2, 4, 512, 600, 600])
    }
}
