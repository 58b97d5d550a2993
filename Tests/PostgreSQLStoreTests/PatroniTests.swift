import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("A cluster that Patroni manages", .inParallel(places: 3), .needsCluster)
struct PatroniTests {
    @Test("Leaders that are killed lose nothing, and stores go on with the next one")
    func killedLeaders() async throws {
        let cluster = try await PatroniCluster()
        let location = try PostgreSQLLocation(cluster.uri)
        try PostgreSQLSchema.setUp(location)
        let stores = [
            try await PostgreSQLAlertStore.open(
                location, caller: .keeper, appliesDeadlines: true),
            try await PostgreSQLAlertStore.open(location, busyTime: .milliseconds(500)),
        ]
        let load = Load(on: stores)
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let lease = try await stores[0].attach(screen)
        try await load.during {
            for _ in 0..<5 {
                try await cluster.waitForStandbys()
                let leader = try #require(cluster.leader)
                try await Task.sleep(for: .seconds(1))
                let start = ContinuousClock.now
                cluster.kill(leader)
                #expect(
                    await eventually(each: .milliseconds(50)) {
                        cluster.leader.map { $0 != leader } ?? false
                    })
                let promotion = ContinuousClock.now
                let pause = try await load.goesOn(after: promotion)
                #expect(pause < .seconds(10))
                #expect(
                    await eventually {
                        await lease.announce(screen, wantsLead: true).isLeading
                    })
                FaultForm.report(
                    "Patroni: leads again after \(start.duration(to: promotion)); callers go on "
                        + "\(pause) later, a screen \(promotion.duration(to: .now))")
                try cluster.start(leader)
            }
        }
        FaultForm.report("Patroni: \(load.summary)")
        try await load.check(try Connection(cluster.uri))
        lease.release()
        for store in stores { await store.close() }
    }
}
