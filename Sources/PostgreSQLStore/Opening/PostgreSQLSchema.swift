import AlertCore
import Migrations
import PostgreSQL

/// The tables, and how a database gets them.
package enum PostgreSQLSchema {
    /// The version that this alertq needs.
    static let version = Migration.postgreSQL.last?.version ?? 0
    /// The first one with tables of this form.
    private static let firstVersion = Migration.postgreSQL.first?.version ?? 0

    /// What a role needs of the tables that is not their owner.
    static let rights: [(right: String, tables: [String])] = [
        (
            "SELECT",
            [
                "alerts", "audit", "heads", "leases", "queues", "requests", "schema_versions",
                "screens", "sources", "turns",
            ]
        ),
        (
            "INSERT",
            ["alerts", "audit", "sources", "turns", "requests", "screens", "leases"]
        ),
        (
            "UPDATE",
            ["alerts", "heads", "sources", "turns", "requests", "screens", "leases"]
        ),
        ("DELETE", ["requests", "screens", "leases"]),
    ]

    /// Which version a database has, and the lowest whose programs may use it.
    private static func found(in db: Connection) throws -> (version: Int, minimum: Int) {
        try db.first(
            "SELECT coalesce(max(version), 0), coalesce(max(minimum), 0) FROM schema_versions"
        ) { (Int($0.integer(at: 0)), Int($0.integer(at: 1))) } ?? (0, 0)
    }

    /// Why this alertq can't use the tables of a database; `nil` if it can.
    static func problem(in db: Connection, at location: PostgreSQLLocation) throws -> String? {
        let found = try found(in: db)
        if isEarlier(found.version) { return earlier }
        if found.version < version {
            return
                "its schema has version \(found.version), and this alertq needs \(version); to "
                + "upgrade it, as the owner of its tables: \(location.setUp)"
        }
        return found.minimum > version ? newer : nil
    }

    private static func isEarlier(_ version: Int) -> Bool { (1..<firstVersion).contains(version) }

    private static let earlier =
        "its tables were made by an earlier alertq, and this version does not read them; keep that "
        + "version to archive them, and set this one up in another database"

    private static let newer = "its schema comes from a newer alertq; install that here, too"

    private static func migrations(from version: Int) -> String {
        Migration.postgreSQL.filter { $0.version > version }.map(\.sql).joined(separator: "\n")
    }

    /// The statements that make what a database lacks for a queue: the tables as well, if the role
    /// can't read which are there.
    package static func script(for location: PostgreSQLLocation) -> String {
        let name = location.queue.replacingScalars(["'": "''"])
        let db = try? location.connect(within: .seconds(5))
        let existing = try? db.map { try found(in: $0).version }
        let hasSchema = try? db?.first(schemaOwner) { _ in true }
        let tables = migrations(from: existing ?? 0)
        return """
            BEGIN;
            \(hasSchema == true ? "" : "CREATE SCHEMA alertq;\n")\
            \(tables.isEmpty ? "" : tables + "\n")\
            \(newQueue.replacing("$1", with: "'\(name)'"));
            \(newHead.replacing("$1", with: "'\(name)'"));
            COMMIT;

            """
    }

    /// Whether the account may do what the owner of the schema may; no row if there is none.
    private static let schemaOwner = """
        SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace
        WHERE nspname = 'alertq'
        """

    /// The statements that make the queue `$1`, unless it is there.
    private static let newQueue = """
        INSERT INTO alertq.queues (id, name)
        SELECT coalesce(max(id), 0) + 1, $1 FROM alertq.queues ON CONFLICT (name) DO NOTHING
        """
    private static let newHead = """
        INSERT INTO alertq.heads (queue) SELECT id FROM alertq.queues WHERE name = $1
        ON CONFLICT DO NOTHING
        """

    /// Makes the tables and a queue, as the account that will own them; nothing is done twice.
    package static func setUp(_ location: PostgreSQLLocation) throws(AlertError) {
        do {
            let db = try location.connect()
            db.timeLimit = .seconds(60)
            try db.begin(
                [
                    Statement("SELECT pg_advisory_xact_lock(hashtext('alertq migration'))")
                ])
            switch try db.first(schemaOwner, read: { $0.optionalText(at: 0) == "t" }) {
            case true?: break
            case nil: try db.execute("CREATE SCHEMA alertq")
            case false?:
                throw AlertError.notPermitted(
                    path: location.description,
                    "another role owns the schema alertq, and only that one makes what is missing in it"
                )
            }
            let hasSchema = try db.first(
                "SELECT to_regclass('schema_versions') IS NOT NULL"
            ) { $0.optionalText() == "t" }
            let found = hasSchema == true ? try found(in: db) : (version: 0, minimum: 0)
            if isEarlier(found.version) || found.minimum > version {
                let reason = isEarlier(found.version) ? earlier : newer
                throw AlertError.incompatible(
                    path: location.description, "can't be used: " + reason)
            }
            if found.version < version { try db.execute(migrations(from: found.version)) }
            try db.run(newQueue, .text(location.queue))
            try db.run(newHead, .text(location.queue))
            try db.execute("COMMIT")
        } catch {
            if let error = error as? PostgreSQLError, error.state == .insufficientPrivilege {
                throw .notPermitted(
                    path: location.description,
                    "\(error); the owner of the tables makes them, who needs CREATE on the database, "
                        + "or to own a schema alertq that is there; with --print, the SQL for that "
                        + "role is printed")
            }
            throw translated(error, "set up the queue", at: location)
        }
    }
}
