import AlertCore
import Linux

/// Who is at the other end of a connection.
///
/// A client's own word about its account counts for nothing. Its terminal, its SSH peer and its login
/// session are kept as it says, and so is its process if that is in another PID namespace.
package struct Peer: Sendable {
    /// The account, by the kernel's word.
    package let principal: Principal
    /// The process, by the kernel's word; `nil` if that doesn't tell.
    let process: ProcessIdentity?
    /// By what it speaks, if that is no process.
    private var means: Means?
    /// What is known or said of the rest; `nil` to keep what each call says.
    private var own: Caller?
    /// Whether the client acts for whomever it says, as a check of the store's contract does.
    let actsForOthers: Bool

    /// The number of all accounts that have none here; see `/proc/sys/kernel/overflowuid` in proc(5).
    private static let overflow: UInt32 = 65534

    /// A client that is believed.
    package static var anybody: Peer {
        Peer(.account(.current), process: nil, actsForOthers: true)
    }

    /// A client on this process's standard input, which acts as this process: of an account that has
    /// come through SSH, sshd has said from where, and how it logged in.
    package static var standardInput: Peer {
        let own = Caller(via: "serve")
        var peer = Peer(own.principal, process: own.process, actsForOthers: false)
        peer.own = own
        return peer
    }

    /// A client that has a token of this process's account.
    static func token(_ name: String) -> Peer {
        var peer = Peer(.account(.current), process: nil, actsForOthers: false)
        peer.means = .token(name)
        return peer
    }

    /// A process of this machine that has connected: looking up the name of its account may take a
    /// while.
    ///
    /// - Throws: The errors of ``init(_:)``.
    static func of(_ found: SocketPeer) async throws(AlertError) -> Peer {
        try await QueueConfined((), label: "alertq.peer").run { _ throws(AlertError) in
            try Peer(found)
        }
    }

    /// The same, with what a process says that relays its lines; what is known already counts more.
    func telling(_ told: Caller?) -> Peer {
        var peer = self
        peer.own = own ?? told
        return peer
    }

    private init(_ principal: Principal, process: ProcessIdentity?, actsForOthers: Bool) {
        self.principal = principal
        self.process = process
        self.actsForOthers = actsForOthers
    }

    /// A process of this machine that has connected.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)`` for an account that the kernel can't name here:
    ///   all such accounts share one number. See user_namespaces(7).
    package init(_ peer: SocketPeer) throws(AlertError) {
        // The kernel says who it is here; queues have the machine's numbers.
        let uid = UserNamespace.current.map { $0.outer(peer.uid) } ?? peer.uid
        guard let uid, peer.uid != Self.overflow else {
            throw .notPermitted(
                path: "uid \(peer.uid)",
                "it stands for every account that has no number here, and has no rights")
        }
        var process = ProcessIdentity.current
        process.pid = peer.pid
        // 0 is a process of another namespace.
        self.init(
            .account(Account(uid: uid).named), process: peer.pid > 0 ? process : nil,
            actsForOthers: false)
    }

    /// Who makes a request that names no caller.
    ///
    /// - Throws: The errors of ``stamp(_:)-(Caller)``.
    func caller(via: String) throws(AlertError) -> Caller {
        try stamp(Caller(principal, via: via, means: means ?? .process(process ?? .current)))
    }

    /// The caller of a request, as the store gets it.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for what no caller may say.
    func stamp(_ caller: Caller) throws(AlertError) -> Caller {
        guard !actsForOthers else { return caller }
        // Clients say neither the account nor the process.
        var caller = own?.through(caller.via) ?? caller
        caller.principal = principal
        caller.means = means ?? .process(process ?? caller.process ?? .current)
        try caller.validate()
        return caller
    }

    /// A screen, as the store gets it.
    func stamp(_ screen: AttachedScreen) -> AttachedScreen {
        guard !actsForOthers else { return screen }
        var screen = screen
        screen.principal = principal
        screen.process = process ?? screen.process
        return screen
    }
}
