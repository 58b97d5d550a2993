import AlertQueue
import CLinux
import FoundationEssentials
import Glibc
import Linux
import TextFormats

/// The checks of `alertq doctor`.
struct QueueCheckup: Sendable {
    let path: String
    /// Whether the user named the queue, and so expects it to exist.
    var isExpected = false
    /// How long something may wait while nobody shows alerts; `nil` if that is no problem.
    var patience: Duration?

    private var administration: any QueueAdministration { QueueLocation(path).administration }

    func findings() async -> [Finding] {
        let found = QueueLocation(path).isFile ? await ofFile() : await ofServer()
        return found.map { $0.advised(for: path) }
    }

    private func ofFile() async -> [Finding] {
        // Opening would create it; looking at a queue must not.
        let presence = QueuePresence(path: path)
        if presence == .present, FilePath.isReadOnly(path) { return [readOnly] }
        guard presence == .present, let mode = FileMode(path: path) else {
            let isThere = FileMode(path: path) != nil
            return (isThere ? await administration.findings() : []) + [absence(presence)]
        }
        let findings = permissions(mode) + (await administration.findings()) + (await schema())
        // Nothing opens a queue whose schema is refused.
        guard findings.allSatisfy({ $0.check != "schema" || $0.code != .badData }) else {
            return findings
        }
        do {
            let manager = try await QueueChoice.reader(path: path)
            let checks = await checks(manager)
            await manager.close()
            return findings + checks
        } catch {
            return findings + [Finding(check: "database", failure: error)]
        }
    }

    private func ofServer() async -> [Finding] {
        var findings = await administration.findings()
        guard findings.allSatisfy({ $0.check != "database" }) else { return findings }
        do {
            let manager = try await QueueChoice.reader(path: path)
            findings += await schema()
            findings += await checks(manager)
            await manager.close()
        } catch {
            // Which right is missing, or which setting is wrong, has been said.
            let code = ExitCode(error)
            let isKnown = findings.contains { $0.code == code }
            if !isKnown || ![.notPermitted, .inputOutput].contains(code) {
                findings.append(Finding(check: "database", failure: error))
            }
        }
        return findings
    }

    private func schema() async -> [Finding] {
        do throws(AlertError) {
            return try await administration.schema()
        } catch {
            // If it can't be opened at all, opening says so.
            return [Finding(check: "schema", failure: error)]
        }
    }

    /// Every other check would report the same, in other words.
    private var readOnly: Finding {
        let place = ShellText.quoted(FilePath.directory(of: QueueChoice.absolute(path)))
        return Finding(
            check: "database",
            problem: "\(path) is on a file system that is mounted read-only: it can be read, but "
                + "nothing can be asked or answered",
            advice: "if the kernel did that after an error, see: journalctl -k; to make it "
                + "writable: mount -o remount,rw \"$(findmnt -no TARGET -T \(place))\"",
            code: .inputOutput)
    }

    private func absence(_ presence: QueuePresence) -> Finding {
        let directory = FilePath.directory(of: path)
        let advice =
            presence.advice(path: path) ?? AccessAdvice(to: directory, of: path).text
        return switch presence {
        case .absent where isExpected:
            Finding(
                check: "database",
                problem: "there is no queue at \(path)"
                    + (FileMode(path: path) == nil ? "" : ", only an empty file"),
                advice: "asking makes one there; otherwise name another one with --database",
                code: .notFound)
        case .present, .absent:
            Finding(
                check: "database",
                detail: FileMode(path: path) == nil
                    ? "\(path) does not exist yet; asking creates it"
                    : "\(path) is empty; asking makes it a queue")
        case .noDirectory(let directory):
            Finding(
                check: "database", problem: "the directory \(directory) does not exist",
                advice: advice, code: .notFound)
        case .closed(let directory):
            Finding(
                check: "permissions", problem: "you may not enter and write to \(directory)",
                advice: advice, code: .notPermitted)
        }
    }

    /// That the queue goes on elsewhere, as the last entry of its log says.
    private func moved(_ manager: AlertManager) async throws(AlertError) -> Finding? {
        guard let place = try await manager.movedTo() else { return nil }
        return Finding(
            check: "database", problem: "the queue has moved to \(place): it can only be read here",
            advice: "name that one, with --database or $ALERTQ_DATABASE", code: .inputOutput)
    }

    private func checks(_ manager: AlertManager) async -> [Finding] {
        var findings: [Finding] = []
        do throws(AlertError) {
            let count = try await manager.pendingCount()
            findings.append(
                Finding(
                    check: "database",
                    detail: "\(QueueLocation(path).description) opens; "
                        + WaitingText.count(count)))
            if let moved = try await moved(manager) { findings.append(moved) }
            findings.append(try await presenter(manager, waiting: count))
            if let damage = try await manager.maintenance?.structuralDamage().first {
                findings.append(
                    Finding(
                        check: "database", problem: "it is damaged: \(damage)",
                        advice: "restore a backup, or save what can be read: "
                            + "sqlite3 \(ShellText.quoted(path)) .recover", code: .inputOutput))
            }
            findings.append(await textIndex(manager))
            if try await !manager.isErasureComplete() {
                let places = QueueLocation(path).isOnServer ? "the table" : "the files"
                findings.append(
                    Finding(
                        check: "erasure",
                        problem: "a purge has not finished, or left rewriting the database to the "
                            + "next: erased texts may still be in unused places of \(places)",
                        advice: "unless it is running now, finish it: alertq purge --older-than "
                            + "TIME, with the same time or an earlier one",
                        code: .busy))
            }
            let report = try await manager.verifyAudit()
            let check = "audit log"
            findings.append(
                report.problems.isEmpty
                    ? Finding(check: check, detail: AuditVerifyCommand.summary(report))
                    : Finding(
                        check: check, problem: "the log does not verify",
                        advice: "see: alertq audit verify", code: .badData))
        } catch {
            findings.append(Finding(check: "database", failure: error))
        }
        return findings
    }

    private func textIndex(_ manager: AlertManager) async -> Finding {
        let check = "text index"
        do throws(AlertError) {
            try await manager.maintenance?.checkTextIndex()
            let count = try await manager.maintenance?.unindexedCount() ?? 0
            let detail = "can be searched"
            guard count > 0 else { return Finding(check: check, detail: detail) }
            return Finding(
                check: check,
                detail: detail + "; \(count) response\(count == 1 ? " is" : "s are") not in it yet")
        } catch {
            return Finding(
                check: check, failure: error, advice: "to rebuild it: alertq doctor --reindex")
        }
    }

    private func presenter(
        _ manager: AlertManager, waiting: Int
    ) async throws(AlertError) -> Finding {
        let check = "presenter"
        let screens = await manager.screens()
        if let process = await administration.unknownLeader {
            return Finding(
                check: check,
                problem: process.subject
                    + " has the right to show alerts, but does not say who it is",
                advice: "if nothing is shown, end it: kill \(process.pid)", code: .busy)
        }
        guard let showing = screens.showing else {
            let detail = "no process shows alerts"
            let advice = "to show what waits: alertq present"
            guard let neglected = try await neglected(manager) else {
                return Finding(check: check, detail: detail, advice: waiting == 0 ? nil : advice)
            }
            return Finding(
                check: check, problem: "\(detail), and \(neglected)", advice: advice,
                code: .unanswered)
        }
        guard let advice = screens.advice else {
            return Finding(check: check, detail: "alerts \(showing)")
        }
        return Finding(check: check, problem: "alerts \(showing)", advice: advice, code: .busy)
    }

    /// The alert that has waited longest, if that is too long: since it was asked, or since its
    /// snooze was over.
    private func neglected(_ manager: AlertManager) async throws(AlertError) -> String? {
        guard let patience else { return nil }
        let now = Date()
        var longest: (id: Alert.ID, since: Date)?
        try await manager.forEachWaiting { record in
            let since = max(record.askedAt, record.snoozedUntil ?? record.askedAt)
            if since < longest?.since ?? .distantFuture { longest = (record.id, since) }
        }
        guard let longest else { return nil }
        let wait = Duration.milliseconds(
            Timestamp.milliseconds(now) - Timestamp.milliseconds(longest.since))
        guard wait >= patience else { return nil }
        return "alert \(longest.id) has waited for \(LengthText.text(wait))"
    }

    private func permissions(_ mode: FileMode) -> [Finding] {
        let directory = FilePath.directory(of: path)
        var findings: [Finding] = []
        for (path, mode) in [(directory, FileMode(path: directory)), (path, mode)] {
            guard let mode, mode.isWritableByOthers else { continue }
            findings.append(
                Finding(
                    check: "permissions", problem: "everybody may write to \(path)",
                    advice: "chmod o-w \(ShellText.quoted(path))", code: .notPermitted))
        }
        if findings.isEmpty {
            let isShared = path == QueueLocation.systemPath
            findings.append(
                Finding(
                    check: "permissions",
                    detail: isShared
                        ? "members of the group alertq may answer, and may write the file directly"
                        : "not writable by everybody"))
        }
        return findings
    }
}

/// The permissions of a file; see stat(2).
private struct FileMode {
    private let bits: mode_t

    /// `nil` where there is no such file.
    init?(path: String) {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
        bits = status.st_mode
    }

    var isWritableByOthers: Bool {
        // In a sticky directory such as /tmp nobody can replace another's file.
        bits & S_IWOTH != 0 && bits & S_ISVTX == 0
    }
}
