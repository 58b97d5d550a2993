/// The account and process that acted, and the presenter or verb it used.
///
/// These are claims of the process that wrote the response: the account and the process come from the
/// kernel, the terminal and the SSH peer from its descriptors and environment. A process that may
/// write the database file may write anything; the audit log's chain shows later changes.
///
/// In a user namespace, such as a container's, the account's ``Account/name`` names both accounts:
/// `ana, in a user namespace as uid 0`. The kernel reports only one level of namespaces: if that
/// namespace is nested in another, whose root is not the machine's, the uid is 4,294,967,295 and the
/// name begins with `unknown`.
public struct Responder: Sendable, Hashable, Codable {
    /// The account that answered, with the name that it had then.
    public var account: Account
    /// The presenter's name, or the verb of the command.
    public var via: String
    /// The terminal's device, such as `/dev/pts/3`.
    public var tty: String?
    /// The address of the SSH client, from `SSH_CONNECTION` (see ssh(1)).
    public var ssh: String?
    /// The process that answered; its boot is left out, since only the log has it.
    public var process: ProcessIdentity

    /// Creates a responder, for ``AlertManager/answer(_:button:by:seen:input:)``, a store or a test.
    public init(
        _ account: Account, via: String, tty: String? = nil, ssh: String? = nil,
        process: ProcessIdentity
    ) {
        self.account = account
        self.via = via
        self.tty = tty
        self.ssh = ssh
        self.process = process.recorded
    }

    /// Whether both say the same, the accounts' names included.
    public static func == (left: Responder, right: Responder) -> Bool {
        left.account == right.account && left.account.name == right.account.name
            && left.via == right.via && left.tty == right.tty && left.ssh == right.ssh
            && left.process == right.process
    }
}
