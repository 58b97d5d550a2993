/// The account and process that acted, and the presenter or verb it used.
///
/// These are claims of the process that wrote the response: uid, pid and host come from the kernel,
/// the terminal and the SSH peer from its descriptors and environment. A process that may write the
/// database file may write anything; the audit log's chain shows later changes.
///
/// In a user namespace, such as a container's, ``uid`` is the account's id outside of it, and
/// ``user`` names both: `ana, in a user namespace as uid 0`. The kernel reports only one level of
/// namespaces: if that namespace is nested in another, whose root is not the machine's, the uid is
/// 4,294,967,295 and the name begins with `unknown`.
public struct Responder: Sendable, Hashable, Codable {
    /// The effective user id of the process that answered, as the machine knows it.
    public var uid: UInt32
    /// The account's name at that time, if it had one, and whether it acted in a user namespace.
    public var user: String?
    /// The presenter's name, or the verb of the command.
    public var via: String
    /// The terminal's device, such as `/dev/pts/3`.
    public var tty: String?
    /// The address of the SSH client, from `SSH_CONNECTION` (see ssh(1)).
    public var ssh: String?
    /// The machine's name; see uname(2).
    public var host: String
    /// The process that answered.
    public var pid: Int32

    /// Creates a responder, for a store or a test.
    public init(
        uid: UInt32, user: String? = nil, via: String, tty: String? = nil, ssh: String? = nil,
        host: String, pid: Int32
    ) {
        self.uid = uid
        self.user = user
        self.via = via
        self.tty = tty
        self.ssh = ssh
        self.host = host
        self.pid = pid
    }
}
