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
            "pgsql:secret", "x:/secret", "postgres ql://ana:secret@db/a", "über://secret",
            "://secret",
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
            "queue.db", "/srv/host=db", "./host=db", "a=b", "hosts=x", "host", "./backup:2026",
            "2026-11-20T10:00.db", "=", "", "./mysql://x", "../x://y", "/x://y", "a/x:y",
        ])
    func file(path: String) throws {
        try QueueLocation(path).check()
        #expect(QueueLocation(path).isFile)
    }

    @Test(
        "A service is named by the absolute paths of its sockets",
        arguments: [
            ("unix:/run/alertq/alertq.sock", true), ("UNIX:/a,/b", true), ("unix:", false),
            ("unix:alertq.sock", false), ("unix:/a,b", false), ("unix:/a,", false),
        ])
    func service(path: String, isRight: Bool) {
        let location = QueueLocation(path)
        #expect(location.isService && !location.isFile && !location.isOnServer)
        #expect(((try? location.check()) != nil) == isRight)
    }

    @Test(
        "What libpq can't take is refused before it connects, with no more of it than a name",
        arguments: [
            ("pw:secret/x@db/alertq", "%2F"), ("pw:1234/secret@db/alertq", "%2F"),
            ("pw:a@secret@db/alertq", "%40"), ("u:1/secret?x=secret@db/a", "%40"),
            ("u@:secret/alertq", "port"), ("db:0/alertq", "port"), ("a:1,b:secret/x", "port"),
            ("/alertq?port=secret", "port"),
            ("/alertq?hots=secret", "parameter hots"),
            ("/a?user=u&foo=secret", "parameter foo"),
            ("/a?password=x&secret=y", "can read"), ("/a?user=x&secret", "can read"),
            ("@[::1/alertq", "can read"), ("pw:secret%ZZ@db/alertq", "%25"),
            ("/a?queue=", "?queue=NAME"), ("/a?notify=secret", "?notify=off"),
            ("/a?host_name=", "?host_name=NAME"),
        ])
    func wrong(rest: String, sentence: String) {
        let error = #expect(throws: AlertError.self) {
            try QueueLocation("postgresql://" + rest).check()
        }
        let text = "\(error as Any)"
        #expect(error?.kind == "invalid" && text.contains(sentence), "\(text)")
        #expect(!text.contains("secret"), "\(text)")
    }

    @Test(
        "A word that libpq does not take is named, if it can be no password",
        arguments: [
            ("sslmode=full", "value of sslmode that libpq does not take, “full”"),
            ("sslmode=disable&gssencmode=full", "“full”"),
            ("target_session_attrs=rw", "“rw”"), ("channel_binding=yes", "“yes”"),
            ("connect_timeout=5s", "“5s”"),
            ("service=no%20such", "“no such”; services are defined in ~/.pg_service.conf"),
        ])
    func wrongWord(parameter: String, sentence: String) {
        let error = #expect(throws: AlertError.self) {
            try QueueLocation("postgresql:///alertq?" + parameter).check()
        }
        let text = "\(error as Any)"
        #expect(error?.kind == "invalid" && text.contains(sentence), "\(text)")
    }

    @Test(
        "What libpq takes is left to it",
        arguments: [
            "", "/alertq", "u:p%2F%40@a,b:1,[::1]:2/alertq",
            "a:1,b:2/x?target_session_attrs=any",
            "/x?host=/run/a,b&port=1,2&hostaddr=&sslmode=require&ssl=true", "u:a?b@h/x?queue=q",
            "u@h/x?connect_timeout=0&keepalives=1&password=a@b&options=-c%20x%3Dy",
        ])
    func right(rest: String) throws { try QueueLocation("postgresql://" + rest).check() }

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
