import AlertCore
import FoundationEssentials
import Migrations
import PostgreSQL

/// What keeps the promises of the tables: constraints, indexes, triggers and functions, compared with
/// those that a new database gets.
package enum ServerSchema {
    /// An object of the schema.
    struct Object: Equatable {
        /// `constraint`, `function`, `index`, `rule`, `security` or `trigger`.
        let kind: String
        let name: String
        /// The table or the domain that it belongs to; empty for a function.
        let place: String
        /// Whether it works: whether it is enabled, valid or unique, and what a function's source is.
        let state: String
        /// The statement that makes it.
        let statement: String

        init(_ members: [String]) {
            (kind, name, place) = (members[0], members[1], members[2])
            (state, statement) = (members[3], members[4])
        }

        var id: [String] { [kind, name, place] }

        /// How it is named to people.
        var text: String {
            kind == "security"
                ? "the row security of “\(place)”"
                : "the \(kind) “\(name)”" + (place.isEmpty ? "" : " of “\(place)”")
        }
    }

    /// Those of the newest migration: the file `PostgreSQL/schema.jsonl`, which a test writes, with
    /// the members of an object in each line.
    static func expected() throws -> [Object] {
        try Migration.postgreSQLSchema.split(separator: UInt8(ascii: "\n")).map {
            Object(try JSONDecoder().decode([String].self, from: Data($0)))
        }
    }

    /// Reads those of a database; see
    /// <https://www.postgresql.org/docs/current/catalogs.html>.
    static func found(in db: Connection) throws -> [Object] {
        try db.rows(query) { row in Object((0..<5).map { row.optionalText(at: $0) ?? "" }) }
    }

    /// The objects of one kind after another, in the same order everywhere.
    static let query = """
        SELECT kind, name COLLATE "C", place COLLATE "C", state, statement FROM (
            SELECT 'trigger' AS kind, tgname::text AS name, relname::text AS place,
                CASE tgenabled WHEN 'O' THEN 'enabled' WHEN 'A' THEN 'enabled' ELSE 'disabled' END
                    AS state, pg_get_triggerdef(pg_trigger.oid) AS statement
            FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
            WHERE relnamespace = 'alertq'::regnamespace AND NOT tgisinternal
            UNION ALL
            SELECT 'index', own.relname::text, of_table.relname::text,
                CASE WHEN indisvalid THEN '' ELSE 'invalid ' END
                    || CASE WHEN indisunique THEN 'unique' ELSE 'plain' END,
                pg_get_indexdef(own.oid)
            FROM pg_index JOIN pg_class AS own ON own.oid = indexrelid
            JOIN pg_class AS of_table ON of_table.oid = indrelid
            WHERE own.relnamespace = 'alertq'::regnamespace AND NOT EXISTS (
                SELECT 1 FROM pg_constraint WHERE conindid = own.oid AND conrelid = indrelid)
            UNION ALL
            SELECT 'constraint', conname::text, coalesce(relname, typname)::text,
                CASE WHEN convalidated THEN 'valid' ELSE 'not validated' END,
                format('ALTER %s alertq.%I ADD CONSTRAINT %I %s',
                    CASE WHEN contypid = 0 THEN 'TABLE' ELSE 'DOMAIN' END,
                    coalesce(relname, typname), conname, pg_get_constraintdef(pg_constraint.oid))
            FROM pg_constraint LEFT JOIN pg_class ON pg_class.oid = conrelid
            LEFT JOIN pg_type ON pg_type.oid = contypid
            WHERE connamespace = 'alertq'::regnamespace AND contype <> 'n'
            UNION ALL
            SELECT 'function', proname::text, '',
                md5(concat_ws(' ', prosrc, proconfig::text, prosecdef::text)),
                pg_get_functiondef(pg_proc.oid)
            FROM pg_proc WHERE pronamespace = 'alertq'::regnamespace AND prokind = 'f'
            UNION ALL
            SELECT 'rule', rulename::text, relname::text, '', pg_get_ruledef(pg_rewrite.oid)
            FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
            WHERE relnamespace = 'alertq'::regnamespace AND relkind = 'r'
            UNION ALL
            SELECT 'security', 'row', relname::text, '', ''
            FROM pg_class
            WHERE relnamespace = 'alertq'::regnamespace AND relrowsecurity) AS objects
        ORDER BY 1, 3, 2
        """

    /// Compares them; what was added and does no harm is noted.
    static func findings(on db: Connection) throws -> [Finding] {
        let (expected, found) = (try expected(), try found(in: db))
        let known = Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let own = Set(expected.map(\.id))
        var faults = expected.compactMap { object -> Finding? in
            guard let there = known[object.id] else {
                return fault("\(object.text) is missing", restoredBy: object.statement + ";")
            }
            guard there.state != object.state else { return nil }
            return fault(
                object.kind == "function"
                    ? "\(object.text) was changed"
                    : "\(object.text) is \(there.state), and not \(object.state)",
                restoredBy: repair(of: object))
        }
        var additions: [String] = []
        for object in found where !own.contains(object.id) {
            if let removal = removal(of: object) {
                faults.append(
                    fault(
                        "\(object.text) is not alertq's, and may change what is stored",
                        "remove it with the statement below", removal))
            } else {
                additions.append(object.text)
            }
        }
        return Finding.schema(
            PostgreSQLSchema.version, faults: faults, additions: additions)
    }

    private static func fault(_ problem: String, restoredBy statements: String) -> Finding {
        fault(problem, "put it back with the statements below", statements)
    }

    /// The owner of the tables, who alone can have done it, can undo it.
    private static func fault(_ problem: String, _ advice: String, _ sql: String) -> Finding {
        Finding(
            check: "schema", problem: problem,
            advice: "find out who may act as the owner of the tables, then " + advice,
            code: .badData, sql: sql)
    }

    /// The statements that make an object work again.
    private static func repair(of object: Object) -> String {
        switch object.kind {
        case "trigger": "ALTER TABLE alertq.\(object.place) ENABLE TRIGGER \(object.name);"
        case "index": "DROP INDEX alertq.\(object.name);\n\(object.statement);"
        case "constraint":
            "ALTER TABLE alertq.\(object.place) VALIDATE CONSTRAINT \(object.name);"
        default: object.statement + ";"
        }
    }

    /// The statement that removes what changes rows, or keeps them out; `nil` for what does no harm.
    private static func removal(of object: Object) -> String? {
        let (name, place) = (quoted(object.name), quoted(object.place))
        return switch object.kind {
        case "trigger": "DROP TRIGGER \(name) ON alertq.\(place);"
        case "rule": "DROP RULE \(name) ON alertq.\(place);"
        case "security": "ALTER TABLE alertq.\(place) DISABLE ROW LEVEL SECURITY;"
        case "constraint": "ALTER TABLE alertq.\(place) DROP CONSTRAINT \(name);"
        case "index" where object.state.hasSuffix("unique"): "DROP INDEX alertq.\(name);"
        default: nil
        }
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacingScalars(["\"": "\"\""]))\""
    }
}
