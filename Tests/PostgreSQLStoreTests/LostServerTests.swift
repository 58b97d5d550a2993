import Dispatch
import Glibc
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Servers that are lost", .inParallel(places: 2), .needsServer)
struct LostServerTests {
    @Test("A server that is killed and comes back loses nothing, and stores go on")
    func restarts() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        // Callers of one of them are told that the server is away, and ask again.
        let stores = [
            try await queue.open(), try await queue.open(busyTime: .milliseconds(100)),
        ]
        let load = Load(on: stores)
        var random = TestRandom(1)
        let rests = (0..<FaultForm.count(short: 10, full: 50)).map { _ in
            Duration.milliseconds(Int.random(in: 20...600, using: &random))
        }
        try await load.during {
            for rest in rests {
                try await Task.sleep(for: rest)
                try await queue.servers[0].stop(SIGKILL)
                try await queue.servers[0].start()
                let pause = try await load.goesOn(after: .now)
                #expect(!FaultForm.isFull || pause < .seconds(2))
                FaultForm.report("Restart: goes on after \(pause)")
            }
        }
        FaultForm.report("Restarts: \(load.summary)")
        try await load.check(try queue.connect())
        for store in stores { await store.close() }
    }

    @Test("A store that closes stores what was posted, also if the server has ended its connection")
    func closing() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        // One that applies no deadlines uses its connection for nothing else.
        let store = try await PostgreSQLAlertStore.open(queue.location, checksDurability: false)
        let record = try await store.ask(.yesNo())
        let (inside, gate) = (Recorder(), DispatchSemaphore(value: 0))
        let held = Task.immediate {
            try await store.leases.run("wait") { _ in
                inside.note("inside")
                gate.wait()
            }
        }
        #expect(await eventually { inside.lines == ["inside"] })
        let db = try queue.connect()
        try db.run(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
            """)
        store.post(.presented(record), by: .ana)
        let closing = Task.immediate { await store.close() }
        #expect(await eventually { store.writes.isClosed })
        gate.signal()
        try await held.value
        await closing.value
        let presented = "SELECT count(*) FROM audit WHERE event = 'presented'"
        #expect(try db.first(presented) { $0.integer() } == 1)
    }

    @Test("Callers who have waited long enough are told so, and their questions may be stored")
    func patience() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open(busyTime: .milliseconds(300))
        let question = Question(alert: .yesNo(key: "k"), source: "test")
        let first = try await store.enqueue(question, by: .ana)
        try await queue.servers[0].stop(SIGKILL)
        // Its children end a moment after it.
        let isAway = await eventually {
            await thrown { try await store.enqueue(question, by: .ana) }?.kind == "unreachable"
        }
        #expect(isAway)
        #expect(await thrown { try await store.ask(.yesNo(key: "l")) }?.kind == "unreachable")
        #expect(await thrown { try await store.record(1) }?.kind == "unreachable")
        try await queue.servers[0].start()
        let again = try await store.enqueue(question, by: .ana)
        #expect(again.record.id == first.record.id && !again.isNew)
        #expect(try await store.ask(.yesNo(key: "l")).id == 2)
        await store.close()
    }

    @Test("An asker who waits for the server holds up nobody who waits for less")
    func otherPatience() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open(
            busyTime: .milliseconds(300), askingTime: .seconds(120))
        let id = try await store.ask(.yesNo()).id
        try await queue.servers[0].stop(SIGKILL)
        // Its children end a moment after it.
        let isAway = await eventually {
            await thrown { try await store.answer(99, 0) }?.kind == "unreachable"
        }
        #expect(isAway)
        let asker = Task { try await store.ask(.yesNo(key: "k")).id }
        let error = await thrown { try await store.answer(id, 0) }
        #expect(error?.kind == "unreachable", "\(error as Any)")
        try await queue.servers[0].start()
        #expect(try await asker.value == 2)
        await store.close()
    }

    @Test("What a store stores right before it is closed is told at once")
    func lastWords() async throws {
        let queue = try await PostgreSQLQueue()
        let db = try queue.connect()
        let channel = try db.first(
            "SELECT \(Listener.channel)", .text(queue.location.queue)
        ) { $0.text() }
        try db.execute("LISTEN \(try #require(channel))")
        for _ in 0..<10 {
            let store = try await PostgreSQLAlertStore.open(
                queue.location, checksDurability: false)
            try await store.ask(.yesNo())
            await store.close()
            // Nobody looks at the queue, which would tell nothing either.
            #expect(try db.nextNotification(within: .seconds(20))?.payload == "queue")
            while try db.nextNotification(within: .zero) != nil {}
        }
    }

    @Test("A read that comes while the server is away waits for it")
    func reading() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open(busyTime: .seconds(120))
        try await store.ask(.yesNo())
        try await queue.servers[0].stop(SIGKILL)
        async let record = store.record(1)
        async let pending = store.pendingCount()
        try await queue.servers[0].start()
        #expect(try await record.id == 1)
        #expect(try await pending == 1)
        await store.close()
    }

    /// Whether it refuses connections, or doesn't answer.
    @Test("Whoever waits for news hears that the server is away", arguments: [true, false])
    func news(isKilled: Bool) async throws {
        let server = try await PostgreSQLServer()
        _ = try OwnServers([server])
        let proxy = try Proxy(to: server.socket)
        let store = try await PostgreSQLAlertStore.open(
            try PostgreSQLLocation(
                "postgresql://alertq@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
                    + "&gssencmode=disable"),
            busyTime: .milliseconds(300), checksDurability: false)
        try await store.ask(.yesNo())
        let start = store.position
        #expect(try await store.news(after: start, of: .others).events.isEmpty)
        if isKilled {
            try await server.stop(SIGKILL)
        } else {
            proxy.fail(.stall, after: 0, .toClient)
        }
        let error = await thrown {
            while true { _ = try await store.news(after: start, of: .others) }
        }
        #expect(error?.kind == "unreachable", "\(error as Any)")
        if isKilled { try await server.start() } else { proxy.heal() }
        let isBack = await eventually {
            (try? await store.news(after: start, of: .others)) != nil
        }
        #expect(isBack)
        await store.close()
    }

    @Test("A synchronous standby that is promoted has all that was acknowledged")
    func failovers() async throws {
        for number in 0..<FaultForm.count(short: 3, full: 20) { try await failOver(number) }
    }

    @Test(
        "So has one whose clock is another, and no lease outlives its holder for longer",
        .enabled(if: canFake, "needs the package faketime, and no sanitizer"),
        arguments: [-30, 30])
    func failoversToAnotherClock(clock: Int) async throws {
        for number in 0..<FaultForm.count(short: 1, full: 20) {
            try await failOver(number, clock: clock)
        }
    }

    /// The libraries of faketime and of a sanitizer both have to be loaded first.
    static let canFake = access("/usr/bin/faketime", X_OK) == 0 && Sanitizer.name == nil

    /// Kills a primary, and promotes its standby.
    ///
    /// - Parameter clock: How far the standby's clock is ahead, in seconds.
    private func failOver(_ number: Int, clock: Int = 0) async throws {
        let queue = try await OwnServers.pair(clock: clock)
        let stores = [try await queue.open(), try await queue.open()]
        let load = Load(on: stores)
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let lease = try await stores[0].attach(screen)
        #expect(await lease.announce(screen, wantsLead: true).isLeading)
        try await load.during {
            try await Task.sleep(for: .milliseconds(300 + 100 * number))
            // A process that handles this one's response, and dies together with the server.
            try queue.connect().execute(
                """
                INSERT INTO leases (queue, alert_id, purpose, epoch, seen_ms)
                SELECT id, 1, 'handling', 1, \(Lease.clock) FROM queues
                """)
            try await queue.servers[0].stop(SIGKILL)
            try await Task.sleep(for: .milliseconds(200))
            try queue.servers[1].promote()
            let promotion = ContinuousClock.now
            let pause = try await load.goesOn(after: promotion)
            #expect(!FaultForm.isFull || pause < .seconds(10))
            FaultForm.report("Failover: goes on after \(pause)")
            if clock != 0 {
                let isFree = try await eventually {
                    try await stores[1].lease(1, for: .handling) != nil
                }
                let lasted = promotion.duration(to: .now)
                #expect(isFree && (!FaultForm.isFull || lasted < .seconds(13)))
                FaultForm.report("Failover: the lease of a dead process lasts \(lasted)")
            }
            #expect(
                await eventually { await lease.announce(screen, wantsLead: true).isLeading })
        }
        FaultForm.report("Failover: \(load.summary)")
        let db = try queue.connect()
        try await load.check(db)
        let time = try #require(try db.first("SELECT \(Lease.clock)") { $0.integer() })
        let ahead = time - SystemClock().now().wallMilliseconds
        #expect(abs(ahead - Int64(clock) * 1000) < 10_000, "its clock is the right one")
        lease.release()
        for store in stores { await store.close() }
    }

    @Test("A standby alone is refused in time, with a reason")
    func standby() async throws {
        let pair = try await OwnServers.pair()
        try await pair.servers[0].stop(SIGKILL)
        let start = ContinuousClock.now
        let error = await #expect(throws: AlertError.self) { _ = try await pair.open() }
        #expect(error?.kind == "unreachable")
        #expect("\(error as Any)".contains("read-only"), "\(error as Any)")
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test("A server that can't be reached is named, without the password")
    func unreachable() async throws {
        let port = try PostgreSQLServer.freePort()
        let location = try PostgreSQLLocation(
            "postgresql://ana:secret@127.0.0.1:\(port)/alerts?password=secret")
        let error = await #expect(throws: AlertError.self) {
            _ = try await PostgreSQLAlertStore.open(location)
        }
        let text = "\(error as Any)"
        #expect(error?.kind == "unreachable" && text.contains("127.0.0.1"), "\(text)")
        #expect(text.contains("\(port)") && !text.contains("secret"), "\(text)")
    }
}
