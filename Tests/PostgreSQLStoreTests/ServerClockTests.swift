import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// Any clock that SQL can read can be set.
@Suite("A server's clock", .inParallel, .needsServer)
struct ServerClockTests {
    private static let hour: Int64 = 3_600_000

    @Test("A step is noticed, and the next transaction goes on as if there had been none")
    func step() {
        for step in [Self.hour, -Self.hour, 1500, -1500] {
            let clock = ServerClock()
            let start = clock.bootMilliseconds
            let time: Int64 = 1_700_000_000_000
            #expect(clock.note(time, offset: 0, askedAt: start))
            #expect(!clock.note(time + step, offset: 0, askedAt: clock.bootMilliseconds))
            #expect(abs(clock.now().wallMilliseconds - time) < 1000)
            let moment = clock.moment(
                time + step, offset: 0, askedAt: clock.bootMilliseconds, notBefore: time)
            #expect(abs(moment.now.wallMilliseconds - time) < 1000)
            #expect(abs(moment.offset + step) < 1000)
            // With the offset that others read, it is no step.
            #expect(
                clock.note(
                    time + step, offset: moment.offset, askedAt: clock.bootMilliseconds))
        }
    }

    @Test("A slow answer is no step, and what others have written counts more than this clock")
    func doubt() {
        let clock = ServerClock()
        let time: Int64 = 1_700_000_000_000
        clock.note(time, offset: 0, askedAt: clock.bootMilliseconds)
        // It may have been read at any time in the last four seconds.
        #expect(clock.note(time - 3500, offset: 0, askedAt: clock.bootMilliseconds - 4000))
        let moment = clock.moment(
            time + Self.hour, offset: 0, askedAt: clock.bootMilliseconds,
            notBefore: time + Self.hour - 500)
        #expect(moment.offset == 0)
        #expect(moment.now.wallMilliseconds == time + Self.hour)
    }

    @Test("Where nobody looked, time goes on from the last transaction")
    func back() {
        let time: Int64 = 1_700_000_000_000
        let moment = ServerClock().moment(
            time, offset: 0, askedAt: 0, notBefore: time + Self.hour)
        #expect(moment.now.wallMilliseconds == time + Self.hour && moment.offset == Self.hour)
    }

    @Test("Setting the clock ends no deadline early, and lets none stand still")
    func set() async throws {
        let server = try await PostgreSQLServer(isSettable: true)
        let queue = try OwnServers([server])
        let store = try await queue.open()
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(1800)))).id
        let watch = Task { [store] in
            var position = store.position
            while let news = try? await store.news(after: position, of: .everybody) {
                position = news.position
            }
        }
        let asked = try await store.record(id).askedAt
        for (index, step) in [3600, 0, -3600].enumerated() {
            try server.setClock(step)
            let entries = { try await store.entries(LogQuery(.after(.start), limit: 100)) }
            #expect(
                try await eventually {
                    try await entries().filter { $0.event.kind == .clock }.count == index + 1
                })
            let found = try await store.find(.id(id))
            #expect(found.record.response == nil, "\(step)")
            let next = try await store.ask(.yesNo()).askedAt
            #expect(abs(next.timeIntervalSince(asked)) < 300)
            #expect(
                try await entries().allSatisfy { abs($0.event.at.timeIntervalSince(asked)) < 300 })
        }
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
        await watch.value
    }
}
