import Linux
import TextFormats

/// Who acts: a principal, what speaks for it, and the presenter or the verb that is used.
///
/// A store stamps the caller, never the process that does the storing. The process that writes says
/// it all of itself: the account and the process come from the kernel, the terminal and the SSH
/// peer from its descriptors and environment. A process that may write the database file may write
/// anything; the audit log's chain shows later changes.
///
/// In a user namespace, such as a container's, the account's ``Account/name`` names both accounts:
/// `ana, in a user namespace as uid 0`. The kernel reports only one level of namespaces: if that
/// namespace is nested in another, whose root is not the machine's, the uid is 4,294,967,295 and the
/// name begins with `unknown`.
public struct Caller: Sendable, Hashable, Codable {
    /// The account, with the name that it had then, or the person.
    public var principal: Principal
    /// The presenter's name, or the verb of the command.
    public var via: String
    /// What spoke; in a record the boot of a process is left out, since only the log has it.
    public var means: Means
    /// The terminal's device, such as `/dev/pts/3`.
    public var tty: String?
    /// The address of the SSH client, from `SSH_CONNECTION` (see ssh(1)).
    public var ssh: String?
    /// The account that logged in, even if the uid has changed since; see pam_loginuid(8). In a
    /// record it is left out: ``AuditEntry/loginUID`` has it.
    var loginUID: UInt32?
    /// The kernel's audit session, one per login; see `/proc/[pid]/sessionid` in proc(5).
    var session: UInt32?

    /// Creates a caller, for ``AlertManager/answer(_:button:by:seen:input:)``, a store or a test.
    public init(
        _ principal: Principal, via: String, means: Means, tty: String? = nil, ssh: String? = nil
    ) {
        self.principal = principal
        self.via = via
        self.means = means
        self.tty = tty
        self.ssh = ssh
    }

    /// Creates a caller that is a process of an account.
    public init(
        _ account: Account, via: String, tty: String? = nil, ssh: String? = nil,
        process: ProcessIdentity
    ) {
        self.init(.account(account), via: via, means: .process(process), tty: tty, ssh: ssh)
    }

    /// The account; `nil` for a person.
    public var account: Account? { principal.account }
    /// The process that spoke; `nil` if something else did.
    public var process: ProcessIdentity? { means.process }

    package init(
        _ account: Account, loginUID: UInt32?, session: UInt32?, via: String, tty: String? = nil,
        ssh: String? = nil, process: ProcessIdentity
    ) {
        self.init(account, via: via, tty: tty, ssh: ssh, process: process)
        self.loginUID = loginUID
        self.session = session
    }

    /// This process, with its current uid, as the system knows it.
    ///
    /// In a user namespace the ids are those outside of it, as the machine knows them; the name
    /// says so.
    package init(via: String) {
        let namespace = UserNamespace.current
        self.init(
            .current(in: namespace), loginUID: LinuxProcess.loginUID(in: namespace),
            session: LinuxProcess.session, via: via, tty: LinuxProcess.terminal,
            // An address has at most 45 bytes; the variable may hold anything.
            ssh: LinuxProcess.environment("SSH_CONNECTION")?.split(separator: " ").first.map {
                String($0).cut(toBytes: Alert.Limit.name)
            },
            process: .current)
    }

    /// Whether both say the same, the accounts' names included.
    public static func == (left: Caller, right: Caller) -> Bool {
        left.principal == right.principal && left.account?.name == right.account?.name
            && left.via == right.via && left.means == right.means && left.tty == right.tty
            && left.ssh == right.ssh && left.loginUID == right.loginUID
            && left.session == right.session
    }

    /// Whether both say the same, byte for byte, as far as records do.
    func isRecorded(as other: Caller) -> Bool {
        principal == other.principal && (account?.name).isIdentical(to: other.account?.name)
            && via.isIdentical(to: other.via) && means.isSame(as: other.means)
            && tty.isIdentical(to: other.tty) && ssh.isIdentical(to: other.ssh)
    }

    /// The caller as a record tells it: without the boot of its process and its login.
    package var recorded: Caller {
        Caller(principal, via: via, means: means.recorded, tty: tty, ssh: ssh)
    }

    /// The same caller through a different presenter or verb.
    package func through(_ via: String) -> Caller {
        var caller = self
        caller.via = via
        return caller
    }

    /// Checks what a program says about a person.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, which names the first part that is wrong.
    package func validate() throws(AlertError) {
        guard Principal(text: principal.text) == principal else {
            throw .invalid("person of the responder", "has no name")
        }
        guard Means(text: means.text, host: process?.host, pid: process?.pid) != nil else {
            throw .invalid("device or token of the responder", "has no name")
        }
        let parts = [
            ("via", via), ("principal", principal.text), ("user", account?.name),
            ("host", process?.host), ("means", means.text), ("tty", tty), ("ssh", ssh),
        ]
        for (name, text) in parts {
            guard let text else { continue }
            try Text.check(text, "\(name) of the responder", limit: Alert.Limit.name)
        }
    }
}

// MARK: - Rights

extension Caller {
    /// Whether the caller is the principal that asked, or the process itself.
    package func isAsker(_ source: AlertRecord.Source) -> Bool {
        source.principal == principal
            && (principal.isIdentified || source.means.isSame(as: means))
    }

    /// Whether the caller may undo what a principal did, erase what it asked or take over its claim: it
    /// is that principal, or root.
    ///
    /// Accounts that can't be identified share one number and have no rights over one another's
    /// alerts.
    package func hasRight(over owner: Principal) -> Bool {
        (owner == principal && principal.isIdentified) || isRoot(over: owner)
    }

    /// Whether the caller may take responses to what a principal asked, so that they count as
    /// collected: it is that principal, or root.
    ///
    /// Accounts that can't be identified share one number, and with it their keys and responses.
    package func mayCollect(from owner: Principal) -> Bool {
        owner == principal || isRoot(over: owner)
    }

    /// Root has no rights over the accounts of another host.
    private func isRoot(over owner: Principal) -> Bool {
        principal.isRoot && principal.host.isIdentical(to: owner.host)
    }
}
