import AlertCore
import AlertQueueTesting
import Foundation
import Synchronization

/// Carries out the calls of a client in another process: one JSON object a line on the standard
/// input, and one for each reply on the standard output.
package final class StoreServer: Sendable {
    /// Opens the queue once more, with a clock.
    package typealias Opening =
        @Sendable (any AlertClock) async throws(AlertError) -> any AlertStore

    /// A store of the client, with what it has attached and claimed.
    private struct Open {
        var store: any AlertStore
        let clock: ManualClock
        var leases: [Int: any ScreenLease] = [:]
        var claims: [Int: any Claim] = [:]
    }

    private let opening: Opening
    private let stores = Mutex<[Int: Open]>([:])
    private let lastNumber = Atomic<Int>(0)
    private let output = Mutex(FileHandle.standardOutput)

    package init(_ opening: @escaping Opening) { self.opening = opening }

    /// Serves until the standard input ends.
    package func serve() async {
        while let line = readLine() {
            let request: StoreRequest
            do {
                request = try JSONDecoder().decode(StoreRequest.self, from: Data(line.utf8))
            } catch {
                refuse(line, error)
                continue
            }
            setClock(of: request)
            switch request.call {
            case nil: break
            // These take effect in the order in which they are sent.
            case .open, .post, .announce, .release, .endClaim, .close: await run(request)
            default: Task { await run(request) }
            }
        }
    }

    /// Answers a line with a value that no store takes, such as a date in the year −20,000.
    private func refuse(_ line: String, _ error: any Error) {
        let head = try? JSONDecoder().decode(StoreRequestHead.self, from: Data(line.utf8))
        guard let id = head?.id else { return }
        send(
            StoreReply(id: id, value: Nothing?.none, error: .invalid("request", "\(error)")))
    }

    private func setClock(of request: StoreRequest) {
        guard let clock = stores.withLock({ $0[request.store]?.clock }) else { return }
        let (before, now) = (clock.now(), request.now.reading)
        let moved = max(0, now.bootMilliseconds - before.bootMilliseconds)
        // In this order: a wall clock that was set back must not pass a deadline first.
        let wall = now.wallMilliseconds.subtractingBounded(moved)
        if before.wallMilliseconds != wall { clock.setWall(milliseconds: wall) }
        if moved > 0 { clock.advance(by: .milliseconds(moved)) }
    }

    private func run(_ request: StoreRequest) async {
        guard let call = request.call else { return }
        do throws(AlertError) {
            try await run(call, of: request)
        } catch {
            reply(to: request, Nothing?.none, error)
        }
    }

    private func reply<Value: Codable>(
        to request: StoreRequest, _ value: Value?, _ error: AlertError? = nil
    ) {
        let position = stores.withLock { $0[request.store]?.store.position }
        send(StoreReply(id: request.id, position: position, value: value, error: error))
    }

    private func send(_ reply: StoreReply<some Codable>) {
        guard var line = try? JSONEncoder().encode(reply) else {
            FileHandle.standardError.write(Data("can't encode \(reply)\n".utf8))
            exit(1)
        }
        line.append(UInt8(ascii: "\n"))
        output.withLock { [line] in try? $0.write(contentsOf: line) }
    }

    private func run(_ call: StoreCall, of request: StoreRequest) async throws(AlertError) {
        if case .open = call {
            let clock = ManualClock(request.now.reading)
            let store = try await opening(clock)
            stores.withLock { $0[request.store] = Open(store: store, clock: clock) }
            return reply(to: request, Nothing())
        }
        guard let store = stores.withLock({ $0[request.store]?.store }) else { throw .closed }
        switch call {
        case .open: break
        case .commit(let changes, let name, let caller, let epoch):
            let results = try await store.commit(
                changes, request: name, by: caller, under: epoch)
            reply(to: request, results.map(ChangeResult.init))
        case .post(let entry, let caller):
            store.post(entry, by: caller)
            reply(to: request, Nothing())
        case .find(let reference): reply(to: request, try await store.find(reference))
        case .next(let query): reply(to: request, try await store.next(query))
        case .waiting(let id): reply(to: request, try await store.waiting(besides: id))
        case .pendingCount: reply(to: request, try await store.pendingCount())
        case .page(let query): reply(to: request, try await store.page(query))
        case .statistics(let query):
            reply(to: request, try await store.statistics(query) { _, _ in })
        case .entries(let query): reply(to: request, try await store.entries(query))
        case .news(let position, let scope):
            reply(to: request, try await store.news(after: position, of: scope))
        case .verify(let head): reply(to: request, try await store.verify(expecting: head))
        case .attach(let screen):
            let lease = try await store.attach(screen)
            let number = nextNumber()
            stores.withLock { $0[request.store]?.leases[number] = lease }
            reply(to: request, AttachedLease(number: number, epoch: lease.epoch))
        case .announce(let number, let screen, let wantsLead):
            let lease = try lease(number, of: request)
            reply(to: request, await lease.announce(screen, wantsLead: wantsLead))
        case .leaseState(let number, let seen):
            reply(to: request, try await lease(number, of: request).state(after: seen))
        case .release(let number):
            stores.withLock { $0[request.store]?.leases.removeValue(forKey: number) }?.release()
            reply(to: request, Nothing())
        case .screens: reply(to: request, await store.screens())
        case .claim(let id, let purpose):
            let claim = try await store.claim(id, for: purpose)
            let number = nextNumber()
            stores.withLock { $0[request.store]?.claims[number] = claim }
            reply(to: request, claim == nil ? Int?.none : number)
        case .endClaim(let number):
            stores.withLock { $0[request.store]?.claims.removeValue(forKey: number) }?.end()
            reply(to: request, Nothing())
        case .close:
            await store.close()
            reply(to: request, Nothing())
        }
    }

    private func lease(
        _ number: Int, of request: StoreRequest
    ) throws(AlertError) -> any ScreenLease {
        guard let lease = stores.withLock({ $0[request.store]?.leases[number] }) else {
            throw .detached
        }
        return lease
    }

    private func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }
}
