import TestSupport
import Testing

@testable import AlertCore
@testable import AlertQueue

@Suite("Locations of queues", .inParallel)
struct QueueLocationTests {
    @Test(
        "What names no file and no queue on a server is refused, without what it says",
        arguments: [
            "host=db dbname=alertq password=secret", " user = ana password=secret",
            "dbname=secret", "mysql://ana:secret@db/alertq", "HTTPS://secret/", "file:///secret",
            "file:secret", "SQLite:secret", "postgresql:secret", "postgres:/secret", "x+y://secret",
        ])
    func refused(path: String) throws {
        let error = #expect(throws: AlertError.self) { try QueueLocation(path).check() }
        let text = "\(error as Any)"
        #expect(error?.kind == "invalid" && !text.contains("secret"), "\(text)")
        #expect(text.contains("postgresql://") && text.contains("./NAME"))
    }

    @Test(
        "Any other name is that of a file",
        arguments: [
            "queue.db", "/srv/host=db", "./host=db", "a=b", "hosts=x", "host", "backup:2026",
            "2026-11-20T10:00.db", "=", "://x", "", "über://x", "./mysql://x", "x:/y",
        ])
    func file(path: String) throws {
        try QueueLocation(path).check()
        #expect(!QueueLocation(path).isOnServer)
    }

    @Test("The scheme of a server may have any case, and is told as libpq takes it")
    func scheme() throws {
        for scheme in ["postgresql", "PostgreSQL", "POSTGRESQL"] {
            let location = QueueLocation(scheme + "://ana:secret@DB/Alerts")
            try location.check()
            #expect(location.isOnServer && location.description == "postgresql://ana@DB/Alerts")
        }
        #expect(QueueLocation("Postgres:///x").description == "postgres:///x")
    }
}
