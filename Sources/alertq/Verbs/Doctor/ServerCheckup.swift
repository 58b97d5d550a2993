import AlertQueue
import TextFormats

/// The checks of the server that a queue is on.
struct ServerCheckup: Sendable {
    let report: ServerReport

    func findings() -> [Finding] {
        [durability, clock] + queueTime + [connections, lock] + rights + creators
    }

    /// None if the role does not see the tables: opening the queue says why.
    private var rights: [Finding] {
        guard let missing = report.missingRights else { return [] }
        let check = "permissions"
        guard !missing.isEmpty else {
            return [Finding(check: check, detail: "the role \(report.role) may ask and answer")]
        }
        let rights = missing.map { ($0.right, $0.tables.joined(separator: ", ")) }
        let lacks = rights.map { "\($0) on \($1)" }
        let grants = missing.map { right, tables in
            "GRANT \(right) ON \(tables.map { "alertq.\($0)" }.joined(separator: ", ")) TO "
                + "\(report.role);"
        }
        return [
            Finding(
                check: check,
                problem: "the role \(report.role) lacks \(lacks.joined(separator: "; "))",
                advice: "the owner of the tables gives them with the statements below",
                code: .notPermitted, sql: grants.joined(separator: "\n"))
        ]
    }

    private var durability: Finding {
        let server =
            "PostgreSQL \(report.version)" + (report.address.map { " at \($0)" } ?? "")
        guard report.isSynced else {
            return Finding(
                check: "durability",
                problem: "\(server); fsync or full_page_writes is off: an answer could be lost",
                advice: "set both to on in the server's configuration, and reload it",
                code: .inputOutput)
        }
        guard report.keepsCommits else {
            return Finding(
                check: "durability",
                problem: "\(server); synchronous_commit is \(report.commit): an answer could be "
                    + "lost",
                advice: "set it with the statement below; where the location's options or ALTER "
                    + "ROLE … IN DATABASE set it, change it there",
                code: .inputOutput,
                sql: "ALTER ROLE \(report.role) SET synchronous_commit = on;")
        }
        guard !report.standbyNames.isEmpty else {
            return Finding(
                check: "durability",
                detail: "\(server); no standby confirms a commit: what is acknowledged survives a "
                    + "crash of the server, and not the loss of its disk"
                    + (report.standbys > 0
                        ? ", and a failover to one of its \(report.standbys) standbys may lose the "
                            + "last answers" : ""),
                isNote: true)
        }
        guard report.seesStandbys else {
            return Finding(
                check: "durability",
                detail: "\(server); commits wait for a synchronous standby "
                    + "(\(report.standbyNames)), but the role \(report.role) can't see how it does",
                advice: "a superuser lets it with the statement below",
                sql: "GRANT pg_read_all_stats TO \(report.role);", isNote: true)
        }
        guard report.synchronousStandbys > 0 else {
            return Finding(
                check: "durability",
                problem: "\(server); commits wait for a synchronous standby, and none is connected",
                advice: "start the standby that synchronous_standby_names names: "
                    + report.standbyNames, code: .busy)
        }
        return Finding(
            check: "durability",
            detail: "\(server); \(report.synchronousStandbys) synchronous of \(report.standbys) "
                + "standbys, at most \(report.lag) bytes behind")
    }

    private var clock: Finding {
        let skew = report.skew.milliseconds
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
        let lead = report.lead.milliseconds
        if lead > 1000 {
            return [
                Finding(
                    check: "clock",
                    problem: "the last entry of the log is \(LengthText.text(report.lead)) later "
                        + "than the server's clock, which was set back, or was wrong then",
                    advice: "make sure of that clock, see timedatectl; time goes on from the log's",
                    code: .busy)
            ]
        }
        let offset = report.offset.milliseconds
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
    private var creators: [Finding] {
        guard !report.creators.isEmpty else { return [] }
        let names = report.creators.joined(separator: ", ")
        return [
            Finding(
                check: "permissions",
                problem: "\(names) may create functions and tables in the schema alertq, which "
                    + "could be taken for those of the queue",
                advice: "its owner takes that right with the statement below",
                code: .notPermitted,
                sql: report.creators.map { name in
                    let role = name == "PUBLIC" ? name : "\"\(name)\""
                    return "REVOKE CREATE ON SCHEMA alertq FROM \(role);"
                }.joined(separator: "\n"))
        ]
    }

    private var lock: Finding {
        guard let holder = report.lockHolder else {
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

    private var connections: Finding {
        let text = "\(report.connections) of \(report.maximumConnections) are in use"
        return report.connections * 10 < report.maximumConnections * 9
            ? Finding(check: "connections", detail: text)
            : Finding(
                check: "connections", problem: text,
                advice: "a process that waits takes two: raise max_connections, or put PgBouncer "
                    + "before the server", code: .busy)
    }
}
