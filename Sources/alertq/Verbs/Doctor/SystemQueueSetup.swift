import AlertQueue
import Glibc
import Linux

/// Creates what the system queue needs: a group, a directory that it may write, and the database.
struct SystemQueueSetup: Sendable {
    private static let group = QueueLocation.systemGroup
    /// rwxrws---: what is created in the directory belongs to its group.
    private static let mode: mode_t = 0o2770
    private static let fileMode: mode_t = 0o660

    func run() async throws -> [Finding] {
        guard UserAccounts.isRootOfFiles else {
            throw CommandError(
                .notPermitted,
                "--setup-system must be run by root; try: sudo alertq doctor --setup-system")
        }
        var findings: [Finding] = []
        if UserAccounts.groupID(of: Self.group) == nil {
            try Self.createGroup()
            findings.append(Finding(check: "group", detail: "\(Self.group) was created"))
        } else {
            findings.append(Finding(check: "group", detail: "\(Self.group) exists"))
        }
        guard let group = UserAccounts.groupID(of: Self.group) else {
            throw CommandError(.inputOutput, "the group \(Self.group) can't be found")
        }
        let directory = FilePath.directory(of: QueueLocation.systemPath)
        let isNew = try Self.prepare(directory, group: group)
        let verb = isNew ? "was created" : "is in order"
        findings.append(
            Finding(check: "directory", detail: "\(directory) \(verb): group alertq, mode 2770"))
        let files = try Self.repairFiles(in: directory, group: group)
        // Otherwise a member could create it first, and own it.
        try await AlertManager(path: QueueLocation.systemPath, via: "doctor").close()
        findings.append(
            Finding(
                check: "database",
                detail: "\(QueueLocation.systemPath) belongs to root and the group alertq"
                    + (files > 0 ? "; \(files) of its files were corrected" : "")))
        findings.append(
            Finding(
                check: "members",
                detail: "members of the group may answer, and may also write the file directly: "
                    + "add only people who may do that",
                advice: "to add one: usermod -aG \(Self.group) ana"))
        return findings
    }

    /// Creates a directory or puts it right; returns whether it is new.
    ///
    /// It works on the open directory, so that nothing can replace it meanwhile.
    static func prepare(_ path: String, group: gid_t) throws -> Bool {
        let isNew = mkdir(path, 0o700) == 0
        guard isNew || errno == EEXIST else { throw failure("create", path) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard fchown(descriptor, 0, group) == 0 else { throw failure("change the owner of", path) }
        guard fchmod(descriptor, mode) == 0 else { throw failure("change the mode of", path) }
        // Otherwise a power loss could remove it again, with the alerts that were asked by then.
        let parent = open(FilePath.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(parent) }
        guard fsync(descriptor) == 0, fsync(parent) == 0 else { throw failure("sync", path) }
        return isNew
    }

    /// Gives the files of a queue to root and the group; returns how many had to be corrected.
    ///
    /// A link, a file that is not regular and a file with a second name are left for
    /// ``AlertManager`` to refuse.
    static func repairFiles(in directory: String, group: gid_t) throws -> Int {
        let base = directory + "/queue.db"
        var count = 0
        for ending in [
            "", "-wal", "-shm", "-journal", "-lock", "-slot", "-bell", "-leases", "-reserve",
        ] {
            let path = base + ending
            // A pipe would never open; see fifo(7).
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_nlink == 1
            else { continue }
            let isRight = status.st_uid == 0 && status.st_gid == group
            if isRight, status.st_mode & 0o7777 == fileMode { continue }
            guard fchown(descriptor, 0, group) == 0 else {
                throw failure("change the owner of", path)
            }
            guard fchmod(descriptor, fileMode) == 0 else {
                throw failure("change the mode of", path)
            }
            count += 1
        }
        return count
    }

    private static func failure(_ action: String, _ path: String) -> CommandError {
        let code: ExitCode = errno == EPERM || errno == EACCES ? .notPermitted : .inputOutput
        return CommandError(code, "can't \(action) \(path): \(String(cString: strerror(errno)))")
    }

    /// Runs groupadd(8), which also knows where groups are kept when that is not /etc/group.
    private static func createGroup() throws {
        let program = "/usr/sbin/groupadd"
        var start = ProgramStart(
            [program, "--system", group], input: .inherited, output: .inherited,
            errors: .inherited)
        // This process ignores SIGPIPE; a child expects what signal(7) says.
        start.signals = [SIGPIPE]
        let child: pid_t
        do {
            child = try start.start()
        } catch {
            throw CommandError(.inputOutput, "can't run \(program): \(error.reason)")
        }
        guard WaitStatus.reap(child)?.exitCode == 0 else {
            throw CommandError(.inputOutput, "\(program) could not create the group \(group)")
        }
    }
}
