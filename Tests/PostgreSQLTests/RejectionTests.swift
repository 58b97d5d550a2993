import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("Connections that are refused", .inParallel, .needsServer)
struct RejectionTests {
    private func refusal(_ parameters: [String: String]) async throws -> PostgreSQLError? {
        let server = try await PostgreSQLServer.shared.value
        return #expect(throws: PostgreSQLError.self) {
            _ = try Connection(server.location, overriding: parameters)
        }
    }

    @Test(
        "What lasts is told from what passes",
        arguments: [
            ("dbname", "nowhere", "3D000", .missing),
            ("user", "nobody at all", "28000", .notPermitted),
            ("options", "-c nonsense=1", "42704", .giveUp),
        ] as [(String, String, String, SQLState.Meaning)])
    func refused(
        keyword: String, value: String, code: String, meaning: SQLState.Meaning
    ) async throws {
        let error = try await refusal([keyword: value])
        #expect(error?.state == SQLState(code) && error?.meaning == meaning, "\(error as Any)")
        #expect(error?.isConnectionLost == true)
        // Where the server's source says it is nothing for a user.
        let text = "\(error as Any)"
        #expect(text.contains("(SQLSTATE \(code))"))
        #expect(!text.contains(".c:") && !text.contains("\(code): "), "\(text)")
    }

    @Test("A channel binding that there can't be is a refusal that lasts")
    func channelBinding() async throws {
        let error = try await refusal(["channel_binding": "require"])
        #expect(error?.meaning == .notPermitted && error?.isAboutTLS == true, "\(error as Any)")
    }

    @Test("A refusal is final only if every host has refused")
    func unreachable() async throws {
        let server = try await PostgreSQLServer.shared.value
        let host = server.location.split(separator: " ")[0].dropFirst("host=".count)
        for hosts in ["/nowhere,\(host)", "\(host),/nowhere"] {
            let error = try await refusal(["host": hosts, "dbname": "nowhere"])
            #expect(error?.meaning == .tryLater, "\(error as Any)")
            #expect("\(error as Any)".contains("does not exist"), "\(error as Any)")
            // What libpq guesses, “Is the server running …?”, is left out.
            #expect(!"\(error as Any)".contains("accepting"), "\(error as Any)")
        }
        #expect(
            try await refusal(["host": "\(host),\(host)", "dbname": "no"])?.meaning == .missing)
    }

    @Test("The code is found in any language, and in the last of several attempts")
    func text() {
        let lines = [
            "connection to server at \"db\", port 5432 failed: FATAL:  28000: no pg_hba.conf entry",
            "LOCATION:  ClientAuthentication, auth.c:543",
            "connection to server at \"db\", port 5432 failed: FATAL:  57P03: Datenbank startet",
            "ORT:  ProcessStartupPacket, postmaster.c:2349",
        ]
        let found = RejectionText.parse(lines)
        #expect(found.state == SQLState("57P03"))
        #expect(
            found.reason == """
                connection to server at "db", port 5432 failed: FATAL: no pg_hba.conf entry; \
                connection to server at "db", port 5432 failed: FATAL: Datenbank startet \
                (SQLSTATE 57P03)
                """)
    }

    @Test("A refusal is final only if every address of the host has refused")
    func addresses() {
        let unreachable = [
            "connection to server at \"db\" (10.0.0.1), port 5432 failed: Connection refused"
        ]
        let refused = [
            "connection to server at \"db\" (10.0.0.2), port 5432 failed: FATAL:  28P01: no",
            "LOCATION:  auth_failed, auth-scram.c:335",
        ]
        for lines in [unreachable + refused, refused + unreachable, unreachable] {
            let found = RejectionText.parse(lines)
            #expect(found.state == nil)
            #expect(found.reason.contains("Connection refused"))
            #expect(!found.reason.contains(".c:335"))
        }
        #expect(RejectionText.parse(refused + refused).state == SQLState("28P01"))
    }
}
