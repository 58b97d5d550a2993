import Linux
import TextFormats

/// An account of a machine.
///
/// Two are equal if they have the same number on the same host; a name may change. Root, whose number
/// is 0, has all rights over the accounts of its host, and none over those of others.
public struct Account: Sendable, Codable {
    /// The machine whose account it is; empty for an account of the machine that this process runs
    /// on. In a queue in files all accounts are those of the machine: renaming that changes none of
    /// them.
    public var host: String
    /// The user id. In a user namespace, such as a container's, it is the one outside of it.
    public var uid: UInt32
    /// The name that it had when it asked or acted, if that is recorded, and whether that was in a
    /// user namespace: `ana, in a user namespace as uid 0`.
    public var name: String?

    /// Creates an account, by default one of a queue in files.
    public init(uid: UInt32, name: String? = nil, host: String = "") {
        self.host = host
        self.uid = uid
        self.name = name
    }
}

extension Account: Hashable {
    /// Whether both have the same number on the same host.
    public static func == (left: Account, right: Account) -> Bool {
        left.uid == right.uid && left.host.isIdentical(to: right.host)
    }

    /// Adds what equal accounts have in common.
    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}

extension Account {
    /// Whether it has all rights over the accounts of its host.
    package var isRoot: Bool { uid == 0 }

    /// Whether a text can be the name of a machine, also in `root@db7`.
    package static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && SafeText.line(text).isIdentical(to: text)
            && !text.contains { $0 == "@" || $0.isWhitespace }
    }

    /// The host as the log has it; `nil` for an account of the machine of a queue in files.
    package var recordedHost: String? { host.isEmpty ? nil : host }

    /// Its name, or else its number, for people, with its machine if that is another one: `ana`,
    /// `root@db7`, `uid 1000 of db7`.
    package var label: String {
        if name == nil { return "uid \(uid)" + (host.isEmpty ? "" : " of \(host)") }
        return word
    }

    /// The same as options take it: `ana`, `root@db7`, `1000@db7`. What a user namespace adds to a
    /// name follows the machine: `ana@db7, in a user namespace as uid 0`.
    package var word: String {
        guard !host.isEmpty else { return name ?? "\(uid)" }
        let name = name ?? "\(uid)"
        let end = name.firstIndex(of: ",") ?? name.endIndex
        return name[..<end] + "@\(host)" + name[end...]
    }
}

// MARK: - Accounts of this machine

extension Account {
    /// The account of this process.
    package static var current: Account { current(in: .current) }

    static func current(in namespace: UserNamespace?) -> Account {
        let (uid, name) = UserAccounts.current(in: namespace)
        return Account(uid: uid, name: name?.cut(toBytes: Alert.Limit.name))
    }

    /// Finds the account of this machine with a name or a number; `nil` if there is none.
    ///
    /// - Throws: If the account database can't be read.
    package static func local(named name: String) throws(LinuxError) -> Account? {
        try UserAccounts.id(of: name).map { Account(uid: $0, name: name) }
    }

    /// The account with the name that it has now, if none is recorded and it can be found; a
    /// directory service may take a while.
    ///
    /// Of the accounts of other machines only root has a name that is known here.
    package var named: Account {
        guard name == nil else { return self }
        let name =
            host.isEmpty
            ? UserAccounts.name(of: uid)?.cut(toBytes: Alert.Limit.name) : isRoot ? "root" : nil
        return Account(uid: uid, name: name, host: host)
    }

    /// Whether it can be told from others: accounts that no namespace identifies share one number.
    package var isIdentified: Bool { uid != UserNamespace.unidentified }
}
