import AlertCore
import Linux
import PostgreSQL

/// The administration of a queue in PostgreSQL, most of which is the server's own business.
package struct PostgreSQLAdministration: QueueAdministration {
    private let text: String

    package init(_ text: String) { self.text = text }

    package var unknownLeader: LinuxProcess? { get async { nil } }

    package func isOwnFile(_ path: String) -> Bool { false }

    package nonisolated(nonsending) func findings() async -> [Finding] {
        do throws(AlertError) {
            return try serverReport().findings()
        } catch {
            return [Finding(check: "database", failure: error)]
        }
    }

    package nonisolated(nonsending) func schema() async throws(AlertError) -> [Finding] {
        let location = try PostgreSQLLocation(text)
        do {
            let db = try location.connect(within: .seconds(5))
            return try db.reading { try ServerSchema.findings(on: db) }
        } catch {
            throw translated(error, "look at the schema", at: location)
        }
    }

    package nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        throw .invalid(
            "location", "is on a server, which is backed up and restored with its own tools")
    }

    func serverReport() throws(AlertError) -> ServerReport {
        let location = try PostgreSQLLocation(text)
        do {
            let db = try location.connect(within: .seconds(5))
            let missing = try Self.missingRights(db)
            let holder = try Self.lockHolder(db)
            let skew = try Self.skew(db)
            let creators = try Self.creators(db)
            let time = try? Self.time(of: location.queue, db)
            let report = try db.first(
                """
                SELECT current_setting('server_version'), current_setting('synchronous_commit'),
                    current_setting('synchronous_standby_names'),
                    (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN
                        ('sync', 'quorum')),
                    (SELECT count(*) FROM pg_stat_replication),
                    (SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0)
                        FROM pg_stat_replication)::bigint,
                    (SELECT sum(numbackends) FROM pg_stat_database)::bigint,
                    current_setting('max_connections'),
                    CASE family(inet_server_addr())
                        WHEN 6 THEN '[' || host(inet_server_addr()) || ']'
                        ELSE host(inet_server_addr()) END || ':' || inet_server_port(),
                    pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')::int,
                    quote_ident(current_user),
                    (current_setting('fsync')::bool
                        AND current_setting('full_page_writes')::bool)::int
                """
            ) { row in
                let commit = row.optionalText(at: 1) ?? ""
                return ServerReport(
                    version: row.optionalText(at: 0) ?? "", address: row.optionalText(at: 8),
                    isSynced: row.integer(at: 11) == 1, commit: commit,
                    keepsCommits: Session.durableCommits.contains(commit),
                    standbyNames: row.optionalText(at: 2) ?? "",
                    synchronousStandbys: Int(row.integer(at: 3)),
                    standbys: Int(row.integer(at: 4)), lag: row.integer(at: 5),
                    connections: Int(row.integer(at: 6)),
                    maximumConnections: Int(row.integer(at: 7)),
                    skew: skew, seesStandbys: row.integer(at: 9) == 1,
                    role: row.optionalText(at: 10) ?? "",
                    missingRights: missing, lockHolder: holder, creators: creators,
                    offset: .milliseconds(time?.offset ?? 0), lead: .milliseconds(time?.lead ?? 0))
            }
            guard let report else { throw AlertError.closed }
            return report
        } catch {
            throw translated(error, "ask the server", at: location)
        }
    }

    /// As in ``ServerReport/skew``: the server reads its clock between the question and the
    /// answer, most likely halfway; the shorter of two round trips says more.
    private static func skew(_ db: Connection) throws -> Duration {
        var best: (trip: Int64, skew: Int64)?
        for _ in 0..<2 {
            let before = SystemClock().now().wallMilliseconds
            let time = try db.first("SELECT \(Lease.clock)") { $0.integer() }
            let after = SystemClock().now().wallMilliseconds
            guard let time, after - before < best?.trip ?? .max else { continue }
            best = (after - before, time - (before + after) / 2)
        }
        return .milliseconds(best?.skew ?? 0)
    }

    /// As in ``ServerReport/creators``; an owner's members are the owner, too.
    private static func creators(_ db: Connection) throws -> [String] {
        try db.rows(
            """
            SELECT CASE WHEN grantee = 0 THEN 'PUBLIC'
                ELSE quote_ident(pg_get_userbyid(grantee)) END
            FROM pg_namespace, aclexplode(nspacl)
            WHERE nspname = 'alertq' AND privilege_type = 'CREATE' AND grantee <> nspowner
            ORDER BY 1
            """
        ) { $0.text() }
    }

    /// As in ``ServerReport/offset`` and ``ServerReport/lead``, in milliseconds.
    private static func time(
        of queue: String, _ db: Connection
    ) throws -> (offset: Int64, lead: Int64)? {
        try db.first(
            """
            SELECT offset_ms, at_ms - offset_ms - \(Lease.clock)
            FROM heads JOIN queues ON queues.id = queue WHERE name = $1
            """, .text(queue)
        ) { ($0.integer(at: 0), $0.integer(at: 1)) }
    }

    /// As in ``ServerReport/lockHolder``: of the sessions with a lock that writers take, the one
    /// that has waited for no other.
    private static func lockHolder(_ db: Connection) throws -> ServerReport.Session? {
        try db.first(
            """
            SELECT pid, usename, host(client_addr), state,
                (extract(epoch FROM clock_timestamp() - start) * 1000)::bigint,
                (wait_event IS NOT DISTINCT FROM 'SyncRep')::int
            FROM (SELECT *, coalesce(xact_start, state_change) AS start FROM pg_stat_activity) AS s
            WHERE backend_type = 'client backend'
                AND start < clock_timestamp() - interval '2 seconds'
                AND pid IN (SELECT pid FROM pg_locks WHERE granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND (relation = to_regclass('heads') AND mode <> 'AccessShareLock'
                        OR locktype = 'advisory' AND classid = to_regclass('heads')))
                AND cardinality(pg_blocking_pids(pid)) = 0
            ORDER BY start LIMIT 1
            """
        ) { row in
            ServerReport.Session(
                process: Int(row.integer(at: 0)), role: row.optionalText(at: 1) ?? "",
                address: row.optionalText(at: 2), state: row.optionalText(at: 3) ?? "",
                age: .milliseconds(row.integer(at: 4)),
                waitsForStandby: row.integer(at: 5) == 1)
        }
    }

    /// As in ``ServerReport/missingRights``.
    private static func missingRights(
        _ db: Connection
    ) throws -> [(right: String, tables: [String])]? {
        var missing: [(right: String, tables: [String])] = []
        for (right, tables) in PostgreSQLSchema.rights {
            let lacking = try db.rows(
                """
                SELECT name, (to_regclass(name) IS NOT NULL)::int
                FROM unnest($1::text[]) AS needed (name)
                WHERE has_table_privilege(to_regclass(name), $2) IS NOT TRUE
                """, .texts(tables), .text(right)
            ) { (name: $0.text(), isSeen: $0.integer(at: 1) == 1) }
            guard lacking.allSatisfy(\.isSeen) else { return nil }
            if !lacking.isEmpty { missing.append((right, lacking.map(\.name))) }
        }
        return missing
    }
}
