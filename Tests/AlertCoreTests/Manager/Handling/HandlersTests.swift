import AlertQueueTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlertCore

/// Closures and handlers, event by event, and what they want to be done.
@Suite("Handlers", .inParallel)
struct HandlersTests {
    private struct Trouble: Error {}

    private var now = ManualClock().now()
    private var handlers = Handlers()

    private mutating func does(_ event: Handlers.Event) -> [String] {
        handlers.handle(event, at: now).map { effect in
            switch effect {
            case .runClosures(let closures, _): "run closure “\(closures.alert.title)”"
            case .closuresEnded(let id, let collects):
                "closures of \(id) have ended\(collects ? " and collect" : "")"
            case .read(let name, let last): "read \(name) after \(last ?? 0)"
            case .run(_, let name, let id): "run \(name) \(id)"
            case .report(.handler(_, let id, _, let pause)): "\(id) pauses \(pause)"
            case .report(let error): "report \(error)"
            }
        }
    }

    private func page(_ ids: Alert.ID...) -> Handlers.Event {
        .found("apply", .success(Handlers.Page(ids: ids, next: ids.last)))
    }

    private func fails(_ id: Alert.ID) -> Handlers.Event { .handlerEnded(id, .failed(Trouble())) }

    private func resolved(_ id: Alert.ID, handler: String? = "apply") throws -> Handlers.Event {
        var record = AlertRecord(
            id: id, alert: Alert("Go?", buttons: ["Go"], handler: handler),
            source: AlertRecord.Source(
                name: "test", .account(Account(uid: 0)),
                .process(ProcessIdentity(host: "here", pid: 1))),
            state: .resolved, askedAt: Date(), presentedAt: nil, expiresAt: nil, snoozedUntil: nil,
            snoozes: 0, response: nil)
        record.response = Response(
            alertID: id, outcome: .answered, buttonIndex: 0, button: record.alert.buttons[0],
            by: .program, responder: nil, resolvedAt: Date(), collectedAt: nil, userInfo: [:])
        return .resolved(record, isOwn: true)
    }

    private func closures(_ title: String, of id: Alert.ID) throws -> Handlers.Event {
        guard case .resolved(let record, _) = try resolved(id) else { throw Trouble() }
        return .keep(AlertClosures(alert: Alert(title), asked: record, body: nil), for: id)
    }

    /// Registers a handler, whose walk finds nothing.
    private mutating func register() {
        _ = does(.register("apply") { _ in })
        _ = does(page())
    }

    private mutating func pass(_ time: Duration) { now = now.advanced(by: time) }

    @Test("A failed response is only retried after its pause, which doubles up to ten minutes")
    mutating func pauses() throws {
        register()
        #expect(try does(resolved(1)) == ["run apply 1"])
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600] {
            #expect(does(fails(1)) == ["1 pauses \(Duration.seconds(seconds))"])
            let due = now.advanced(by: .seconds(seconds))
            #expect(handlers.nextMoment(after: now) == due)
            pass(.seconds(seconds) - .milliseconds(1))
            #expect(try does(.time) + does(resolved(1)) == [])
            pass(.milliseconds(1))
            #expect(does(.time) == ["run apply 1"])
            #expect(handlers.nextMoment(after: now) == nil)
        }
        #expect(does(.handlerEnded(1, .gone)) == [])
        #expect(handlers.nextMoment(after: now) == nil)
    }

    @Test("The earliest of several retries is the next one")
    mutating func earliest() throws {
        register()
        for id in 1...2 as ClosedRange<Alert.ID> {
            _ = try does(resolved(id))
            _ = does(fails(id))
            pass(.milliseconds(100))
        }
        #expect(handlers.nextMoment(after: now) == now.advanced(by: .milliseconds(800)))
        pass(.milliseconds(800))
        #expect(does(.time) == ["run apply 1"])
        #expect(handlers.nextMoment(after: now) == now.advanced(by: .milliseconds(100)))
    }

    @Test("Newly registered code need not wait for retries of the old code")
    mutating func registeredAnew() throws {
        register()
        _ = try does(resolved(1))
        _ = does(fails(1))
        #expect(does(.register("other") { _ in }) == ["read other after 0"])
        #expect(handlers.nextMoment(after: now) != nil)
        #expect(does(.register("apply") { _ in }) == ["read apply after 0"])
        #expect(handlers.nextMoment(after: now) == nil)
        #expect(does(page(1)) == ["read apply after 1", "run apply 1"])
    }

    @Test("Up to 32 run at once, and the oldest of the others follows")
    mutating func limit() throws {
        register()
        for id in 1...32 as ClosedRange<Alert.ID> {
            #expect(try does(resolved(id)) == ["run apply \(id)"])
        }
        #expect(try does(resolved(40)) == ["read apply after 0"])
        #expect(does(page(1, 33, 40)) == [])
        #expect(does(.handlerEnded(7, .gone)) == ["run apply 33"])
        #expect(does(.handlerEnded(8, .gone)) == ["read apply after 40", "run apply 40"])
    }

    @Test("A response that another process has is tried again after a second")
    mutating func held() throws {
        register()
        _ = try does(resolved(1))
        #expect(does(.handlerEnded(1, .held)) == [])
        #expect(handlers.nextMoment(after: now) == now.advanced(by: .seconds(1)))
        pass(.seconds(1))
        #expect(does(.time) == ["run apply 1"])
    }

    @Test("When responses can't be leased, all of them pause for ten seconds, which is said once")
    mutating func notLeased() throws {
        register()
        for id in 1...3 as ClosedRange<Alert.ID> { _ = try does(resolved(id)) }
        let error = AlertError.storage(operation: "open the locks", "too many files")
        #expect(does(.handlerEnded(1, .notLeased(error))) == ["1 pauses \(Duration.seconds(10))"])
        #expect(does(.handlerEnded(2, .notLeased(error))) == [])
        #expect(try does(resolved(4)) == ["read apply after 0"])
        #expect(does(page(1, 2, 4)) == [])
        #expect(does(.handlerEnded(3, .gone)) == [])
        #expect(handlers.nextMoment(after: now) == now.advanced(by: .seconds(10)))
        pass(.seconds(10))
        #expect(
            does(.time) == ["run apply 1", "run apply 2", "read apply after 4", "run apply 4"])
    }

    @Test("A page that can't be read is read again after a second")
    mutating func unreadable() {
        _ = does(.register("apply") { _ in })
        #expect(does(.found("apply", .failure(.storage(operation: "read", "it fails")))) == [])
        #expect(handlers.nextMoment(after: now) == now.advanced(by: .seconds(1)))
        pass(.seconds(1))
        #expect(does(.time) == ["read apply after 0"])
        #expect(handlers.nextMoment(after: now) == nil)
    }

    @Test("Responses that come during a walk cause exactly one more walk")
    mutating func walks() throws {
        #expect(does(.register("apply") { _ in }) == ["read apply after 0"])
        #expect(try does(resolved(2)) + does(resolved(3)) == [])
        #expect(does(page()) == ["read apply after 0"])
        #expect(does(page(2, 3)) == ["run apply 2", "read apply after 3", "run apply 3"])
        #expect(does(page()) == [])
    }

    @Test("Failures beyond those that are remembered are tried again, however many follow")
    mutating func forgotten() throws {
        handlers = Handlers(limit: 4, memory: 1)
        register()
        _ = try (does(resolved(1)), does(fails(1)))
        _ = try (does(resolved(2)), does(fails(2)))
        pass(.seconds(300))
        _ = (does(.time), does(fails(1)))
        _ = try (does(resolved(3)), does(fails(3)))
        pass(.seconds(300))
        #expect(does(.time).contains("read apply after 0"))
    }

    @Test("Closures run one after another, and the handler after them")
    mutating func closures() throws {
        register()
        _ = try (does(closures("one", of: 1)), does(closures("two", of: 1)))
        #expect(try does(resolved(1)) == ["run closure “one”"])
        #expect(try does(closures("three", of: 1)) + does(resolved(1)) == [])
        #expect(does(.closureEnded(1, hasFailed: true)) == ["run closure “two”"])
        #expect(does(.closureEnded(1, hasFailed: false)) == ["run closure “three”"])
        #expect(
            does(.closureEnded(1, hasFailed: false)) == ["closures of 1 have ended", "run apply 1"])
    }

    @Test("Closures collect the response unless one has failed", arguments: [true, false])
    mutating func collecting(hasFailed: Bool) throws {
        _ = try (does(closures("one", of: 1)), does(closures("two", of: 1)))
        _ = try does(resolved(1, handler: nil))
        _ = does(.closureEnded(1, hasFailed: hasFailed))
        #expect(
            does(.closureEnded(1, hasFailed: false))
                == ["closures of 1 have ended\(hasFailed ? "" : " and collect")"])
    }

    @Test("Closed handlers keep no code, not even what comes while or after they close")
    mutating func closing() throws {
        register()
        _ = try (does(closures("one", of: 1)), does(closures("two", of: 1)))
        _ = try (does(resolved(1)), does(closures("other", of: 2)))
        #expect(does(.close) == [] && !handlers.isEmpty)
        #expect(try does(closures("late", of: 3)) + does(resolved(3)) == [])
        #expect(does(.closureEnded(1, hasFailed: false)) == ["closures of 1 have ended"])
        #expect(does(.register("apply") { _ in }) == [])
        #expect(handlers.isEmpty && handlers.nextMoment(after: now) == nil)
    }
}
