import TextFormats

/// Who asks, answers or may: an account of a machine, or a person without one.
///
/// Two are equal if they are the same account or have the same person's name, whatever the account is
/// called and whatever speaks for them. A person is never equal to an account.
public enum Principal: Sendable {
    /// An account, with the name that it had when it asked or acted, if that is recorded.
    case account(Account)
    /// A person without an account, by the name that the queue knows, which nobody else ever gets.
    case person(String)

    /// The account; `nil` for a person.
    public var account: Account? {
        guard case .account(let account) = self else { return nil }
        return account
    }
}

extension Principal: Hashable {
    /// Whether both are the same account, or the same person.
    public static func == (left: Principal, right: Principal) -> Bool {
        switch (left, right) {
        case (.account(let left), .account(let right)): left == right
        case (.person(let left), .person(let right)): left.isIdentical(to: right)
        case (.account, _), (.person, _): false
        }
    }

    /// Adds what equal principals have in common.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .account(let account): hasher.combine(account)
        case .person(let name): hasher.combine(name)
        }
    }
}

// MARK: - As text

extension Principal {
    /// What identifies it in a queue, in the queue's log and in JSON: `1000`, `1000@db7`,
    /// `person:boss`.
    package var text: String {
        switch self {
        case .account(let account):
            account.host.isEmpty ? String(account.uid) : "\(account.uid)@\(account.host)"
        case .person(let name): "person:" + name
        }
    }

    /// What it was called, if that is recorded: `ana`, `person:boss`. No account has a name with a
    /// colon; see passwd(5).
    public var user: String? {
        switch self {
        case .account(let account): account.name
        case .person: text
        }
    }

    /// The principal that a text identifies; `nil` if it is not exactly the ``text`` of one.
    package init?(text: String) {
        if let (kind, name) = text.atFirst(":"), kind.utf8.elementsEqual("person".utf8) {
            guard !name.isEmpty else { return nil }
            self = .person(name)
            return
        }
        let parts = text.atFirst("@")
        let (number, host) = (parts?.before ?? text, parts?.after)
        guard number.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            number.utf8.count == 1 || number.utf8.first != UInt8(ascii: "0"),
            let uid = UInt32(number), host?.isEmpty != true
        else { return nil }
        self = .account(Account(uid: uid, host: host ?? ""))
    }

    /// The same, with what it was called; `nil` also if nobody was called that.
    package init?(text: String, user: String?) {
        self.init(text: text)
        if case .account(var account) = self {
            account.name = user
            self = .account(account)
        }
        guard self.user.isIdentical(to: user) else { return nil }
    }

    /// For people: `ana`, `uid 1000 of db7`, `person:boss`.
    package var label: String {
        switch self {
        case .account(let account): account.label
        case .person: text
        }
    }

    /// As options take it: `ana`, `1000@db7`, `person:boss`.
    package var word: String {
        switch self {
        case .account(let account): account.word
        case .person: text
        }
    }

    /// What identifies it, without the name that an account had.
    var unnamed: Principal {
        guard let account else { return self }
        return .account(Account(uid: account.uid, host: account.host))
    }

    /// With the name that an account has now, if none is recorded and it can be found.
    package var named: Principal {
        guard let account else { return self }
        return .account(account.named)
    }
}

extension Principal: Codable {
    private enum Name: CodingKey { case principal, user }

    /// Reads what ``encode(to:)`` writes.
    ///
    /// - Throws: `DecodingError`, also for a text that identifies no principal.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        let text = try members.decode(String.self, forKey: .principal)
        let user = try members.decodeIfPresent(String.self, forKey: .user)
        guard let principal = Principal(text: text, user: user) else {
            throw DecodingError.dataCorruptedError(
                forKey: .principal, in: members,
                debugDescription: "“\(SafeText.line(text))” is neither an account nor a person")
        }
        self = principal
    }

    /// Writes an object with `principal`, such as `1000@db7` or `person:boss`, and `user`, what it was
    /// called.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(text, forKey: .principal)
        try members.encodeIfPresent(user, forKey: .user)
    }
}

// MARK: - Machines and rights

extension Principal {
    /// The machine of an account; empty for one of this machine, and for a person.
    package var host: String { account?.host ?? "" }

    /// Names the machine of an account; a person has none.
    package mutating func setHost(_ host: String) {
        guard var account, !account.host.isIdentical(to: host) else { return }
        account.host = host
        self = .account(account)
    }

    /// Whether it can be told from others: accounts that no namespace identifies share one number.
    var isIdentified: Bool { account?.isIdentified ?? true }

    /// Whether it has all rights over the accounts of its machine, and over persons in a queue of it.
    package var isRoot: Bool { account?.isRoot ?? false }
}

// MARK: - What speaks

/// What spoke for a principal.
public enum Means: Sendable, Hashable, Codable {
    /// A process of a machine.
    case process(ProcessIdentity)
    /// A paired device, by its name.
    case device(String)
    /// A token, by its name.
    case token(String)
    /// A link, which whoever has it can open.
    case link

    /// The process; `nil` if something else spoke.
    public var process: ProcessIdentity? {
        guard case .process(let process) = self else { return nil }
        return process
    }
}

extension Means {
    /// What a queue, its log and JSON have beside the host and number of a process: nothing for a
    /// process, else `device:phone`, `token:ci` or `link`.
    package var text: String? {
        switch self {
        case .process: nil
        case .device(let name): "device:" + name
        case .token(let name): "token:" + name
        case .link: "link"
        }
    }

    /// The means with this ``text`` and process; `nil` if there is none.
    package init?(text: String?, host: String?, pid: Int32?) {
        switch (text, host, pid) {
        case (nil, let host?, let pid?):
            self = .process(ProcessIdentity(host: host, pid: pid))
        case (let text?, nil, nil):
            let parts = text.atFirst(":")
            switch (Array((parts?.before ?? text).utf8), parts?.after) {
            case (Array("device".utf8), let name?) where !name.isEmpty: self = .device(name)
            case (Array("token".utf8), let name?) where !name.isEmpty: self = .token(name)
            case (Array("link".utf8), nil): self = .link
            default: return nil
            }
        default: return nil
        }
    }

    /// For people: `process 4711 on nas`, `device phone`.
    package var label: String {
        switch self {
        case .process(let process): "process \(process.pid) on \(process.host)"
        case .device(let name): "device \(name)"
        case .token(let name): "token \(name)"
        case .link: "link"
        }
    }

    /// As a record tells it: without the boot of a process, which only the log has.
    var recorded: Means {
        guard let process else { return self }
        return .process(process.recorded)
    }

    /// Whether both are the same, as far as is known.
    func isSame(as other: Means) -> Bool {
        guard let process, let otherProcess = other.process else {
            return text.isIdentical(to: other.text) && process == nil && other.process == nil
        }
        return process.isSame(as: otherProcess)
    }
}

extension String {
    /// What is before the first byte that is this character, and what is after it; `nil` if it has
    /// none.
    fileprivate func atFirst(_ separator: Unicode.Scalar) -> (before: String, after: String)? {
        guard let end = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        return (String(self[..<end]), String(self[utf8.index(after: end)...]))
    }
}
