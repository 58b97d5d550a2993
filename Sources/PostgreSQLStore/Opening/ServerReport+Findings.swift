import AlertCore
import TextFormats

extension ServerReport {
    /// What the checks of the server find.
    func findings() -> [Finding] {
        [durability, clock] + queueTime + [room, lock] + rights + ownership
    }

    /// None if the role does not see the tables: opening the queue says why.
    private var rights: [Finding] {
        guard let missingRights else { return [] }
        let check = "permissions"
        guard !missingRights.isEmpty else {
            return [Finding(check: check, detail: "the role \(role) may ask and answer")]
        }
        let rights = missingRights.map { ($0.right, $0.tables.joined(separator: ", ")) }
        let lacks = rights.map { "\($0) on \($1)" }
        let grants = missingRights.map { right, tables in
            "GRANT \(right) ON \(tables.map { "alertq.\($0)" }.joined(separator: ", ")) TO "
                + "\(role);"
        }
        let sql = grants.joined(separator: "\n")
        // As a role for monitoring has it.
        let mayOnlyRead = missingRights.elementsEqual(PostgreSQLSchema.rights.dropFirst(), by: ==)
        return [
            mayOnlyRead
                ? Finding(
                    check: check,
                    detail: "the role \(role) may read everything, and neither ask nor answer",
                    advice:
                        "if it should, the owner of the tables lets it with the statements below",
                    sql: sql, isNote: true)
                : Finding(
                    check: check,
                    problem: "the role \(role) lacks \(lacks.joined(separator: "; "))",
                    advice: "the owner of the tables gives them with the statements below",
                    code: .notPermitted, sql: sql)
        ]
    }

    private var durability: Finding {
        let server =
            "PostgreSQL \(version)" + (address.map { " at \($0)" } ?? "")
        guard isSynced else {
            return Finding(
                check: "durability",
                problem: "\(server); fsync or full_page_writes is off: an answer could be lost",
                advice: "set both to on in the server's configuration, and reload it",
                code: .inputOutput)
        }
        guard keepsCommits else {
            return Finding(
                check: "durability",
                problem: "\(server); synchronous_commit is \(commit): an answer could be "
                    + "lost",
                advice: "set it with the statement below; where the location's options or ALTER "
                    + "ROLE … IN DATABASE set it, change it there",
                code: .inputOutput,
                sql: "ALTER ROLE \(role) SET synchronous_commit = on;")
        }
        guard !standbyNames.isEmpty else {
            return Finding(
                check: "durability",
                detail: "\(server); no standby confirms a commit: what is acknowledged survives a "
                    + "crash of the server, and not the loss of its disk"
                    + (standbys > 0
                        ? ", and a failover to one of its \(standbys) standbys may lose the "
                            + "last answers" : ""),
                isNote: true)
        }
        guard seesStandbys else {
            return Finding(
                check: "durability",
                detail: "\(server); commits wait for a synchronous standby "
                    + "(\(standbyNames)), but the role \(role) can't see how it does",
                advice: "a superuser lets it with the statement below",
                sql: "GRANT pg_read_all_stats TO \(role);", isNote: true)
        }
        guard synchronousStandbys > 0 else {
            return Finding(
                check: "durability",
                problem: "\(server); commits wait for a synchronous standby, and none is connected",
                advice: "start the standby that synchronous_standby_names names: "
                    + standbyNames, code: .busy)
        }
        return Finding(
            check: "durability",
            detail: "\(server); \(synchronousStandbys) synchronous of \(standbys) "
                + "standbys, at most \(lag) bytes behind")
    }

    private var clock: Finding {
        let skew = self.skew.milliseconds
        let text =
            "the server's clock is \(abs(skew)) ms \(skew < 0 ? "behind" : "ahead of") this one"
        return abs(skew) < 5000
            ? Finding(check: "clock", detail: text)
            : Finding(
                check: "clock", problem: text,
                advice: "deadlines follow the server's clock: synchronize both, see timedatectl",
                code: .busy)
    }

    /// The queue's own time, where it is not that of the server's clock.
    private var queueTime: [Finding] {
        let lead = self.lead.milliseconds
        if lead > 1000 {
            return [
                Finding(
                    check: "clock",
                    problem: "the last entry of the log is \(LengthText.text(self.lead)) later "
                        + "than the server's clock, which was set back, or was wrong then",
                    advice: "make sure of that clock, see timedatectl; time goes on from the log's",
                    code: .busy)
            ]
        }
        let offset = self.offset.milliseconds
        guard offset != 0 else { return [] }
        let length = LengthText.text(.milliseconds(abs(offset)))
        return [
            Finding(
                check: "clock",
                detail: "the queue's time is \(length) \(offset < 0 ? "behind" : "ahead of") the "
                    + "server's clock, which was set while the queue was open",
                isNote: true)
        ]
    }

    /// Whoever may create a function or a table there may come before the queue's own.
    private var ownership: [Finding] {
        guard !creators.isEmpty else { return [] }
        let names = creators.joined(separator: ", ")
        return [
            Finding(
                check: "permissions",
                problem: "\(names) may create functions and tables in the schema alertq, which "
                    + "could be taken for those of the queue",
                advice: "its owner takes that right with the statement below",
                code: .notPermitted,
                sql: creators.map { "REVOKE CREATE ON SCHEMA alertq FROM \($0);" }
                    .joined(separator: "\n"))
        ]
    }

    private var lock: Finding {
        guard let holder = lockHolder else {
            return Finding(check: "lock", detail: "no session keeps others from writing")
        }
        let address = holder.address.map { " from \($0)" } ?? ""
        guard !holder.waitsForStandby else {
            return Finding(
                check: "lock",
                problem:
                    "every write waits for the server's process \(holder.process), whose commit "
                    + "has waited for a synchronous standby for \(holder.age.components.seconds) s",
                advice:
                    "bring the standby back; don't end that process: what it has stored would be "
                    + "seen, and a failover would lose it",
                code: .busy)
        }
        return Finding(
            check: "lock",
            problem: "the server's process \(holder.process) (role \(holder.role)\(address), "
                + "\(holder.state)) has held for \(holder.age.components.seconds) s the lock that "
                + "every write needs",
            advice:
                "end it with the statement below, if it should not; what it had not finished is "
                + "undone",
            code: .busy, sql: "SELECT pg_terminate_backend(\(holder.process));")
    }

    private var room: Finding {
        let text = "\(connections) of \(maximumConnections) are in use"
        return connections * 10 < maximumConnections * 9
            ? Finding(check: "connections", detail: text)
            : Finding(
                check: "connections", problem: text,
                advice: "a process that waits takes two: raise max_connections, or put PgBouncer "
                    + "before the server", code: .busy)
    }
}
