import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// What others have made under the names that a queue uses is not taken for its own.
@Suite("Hostile names in PostgreSQL", .inParallel, .needsServer)
struct HostileNamesTests {
    /// A server where `public` is open to all, and comes before PostgreSQL's own names.
    private func trap() async throws -> PostgreSQLServer {
        let server = try await PostgreSQLServer(settings: [
            "search_path": "public, pg_catalog, alertq"
        ])
        try server.execute(
            """
            CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO PUBLIC;
            CREATE TABLE caught (name text); GRANT ALL ON caught TO PUBLIC;
            """)
        try server.execute(
            """
            CREATE FUNCTION public.trap(a name, b name) RETURNS text LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO public.caught VALUES ('||'); RETURN 'x'; END $$;
            CREATE OPERATOR public.|| (FUNCTION = public.trap, LEFTARG = name, RIGHTARG = name);
            CREATE FUNCTION public.trap(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO public.caught VALUES ('='); RETURN true; END $$;
            CREATE OPERATOR public.= (FUNCTION = public.trap, LEFTARG = text, RIGHTARG = text);
            CREATE FUNCTION public.num_nonnulls(VARIADIC text[]) RETURNS integer LANGUAGE sql
                AS 'SELECT 0';
            CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS 'SELECT timestamptz ''2001-01-01''';
            CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text
                LANGUAGE sql AS 'SELECT $2';
            CREATE TABLE public.alerts (id bigint); CREATE TABLE public.heads (queue bigint);
            CREATE DOMAIN public.outcome AS text;
            """, as: "mallory")
        return server
    }

    @Test("A queue is made and used, and no function of others runs")
    func functions() async throws {
        let server = try await trap()
        let location = try PostgreSQLLocation(server.uri)
        try PostgreSQLSchema.setUp(location)
        try PostgreSQLSchema.setUp(location)
        let store = try await PostgreSQLAlertStore.open(
            location, caller: .keeper, appliesDeadlines: true, checksDurability: false)
        let asked = try await store.ask(.yesNo(key: "k"))
        #expect(asked.askedAt > .init(timeIntervalSince1970: 1_500_000_000))
        let lease = try await store.attach(
            AttachedScreen(caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false))
        try await store.answer(asked.id, 0)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        lease.release()
        await store.close()
        let caught = try Connection(server.location).rows("SELECT name FROM public.caught") {
            $0.text()
        }
        #expect(caught.isEmpty, "\(caught)")
        _ = try PostgreSQLAdministration(server.uri).serverReport()
    }

    @Test("What triggers refuse is refused under any search_path")
    func triggers() async throws {
        let server = try await trap()
        let location = try PostgreSQLLocation(server.uri)
        try PostgreSQLSchema.setUp(location)
        let store = try await PostgreSQLAlertStore.open(
            location, caller: .keeper, checksDurability: false)
        try await store.ask(.yesNo())
        try await store.answer(1, 0)
        await store.close()
        try server.execute(
            """
            GRANT USAGE ON SCHEMA alertq TO mallory;
            GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA alertq TO mallory
            """)
        for change in [
            "alerts SET title = 'Other'", "alerts SET note = 'Other'",
            "alerts SET title = NULL, message = NULL, fields = NULL, info = '{}', salt = NULL",
            "audit SET detail = 'Other'", "heads SET seq = seq - 1", "heads SET last_id = 0",
            "heads SET at_ms = 0", "heads SET hash = decode(repeat('00', 32), 'hex')",
        ] {
            #expect(throws: PostgreSQLError.self, "\(change)") {
                try server.execute("UPDATE alertq." + change, as: "mallory")
            }
        }
    }

    @Test("A temporary table of a pooled session takes no question", .needsPooler)
    func temporaryTable() async throws {
        let server = try await PostgreSQLServer()
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(server.uri))
        let pooler = try await Pooler(before: server, size: 1)
        let query = pooler.location.split(separator: " ").map { $0.replacing("/", with: "%2F") }
            .joined(separator: "&")
        let location = try PostgreSQLLocation("postgresql:///?\(query)&notify=off")
        try Connection(pooler.location, preparation: .unnamed).execute(
            "CREATE TEMP TABLE alerts (LIKE alertq.alerts); CREATE TEMP TABLE heads (queue int)")
        let store = try await PostgreSQLAlertStore.open(
            location, caller: .keeper, checksDurability: false)
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        #expect(try await store.record(id).response?.buttonIndex == 0)
        await store.close()
        let count = try Connection(server.location).first(
            "SELECT count(*) FROM alertq.alerts WHERE outcome = 'answered'"
        ) { $0.integer() }
        #expect(count == 1)
    }

    @Test("A schema of another role is not filled")
    func foreignSchema() async throws {
        let server = try await PostgreSQLServer()
        try server.execute("CREATE ROLE mallory LOGIN; CREATE ROLE owner LOGIN")
        try server.execute("CREATE SCHEMA alertq AUTHORIZATION mallory")
        let uri = server.uri.replacing("user=alertq", with: "user=owner")
        let error = await thrown { try PostgreSQLSchema.setUp(try PostgreSQLLocation(uri)) }
        #expect(error?.kind == "notPermitted", "\(error as Any)")
        #expect("\(error as Any)".contains("another role owns"), "\(error as Any)")
    }
}
