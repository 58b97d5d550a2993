import AlertQueue
import Linux

/// An account or a person as somebody typed it: `NAME`, or `NAME@HOST` for an account of a certain
/// machine, or `person:NAME`. What a user namespace adds to a name follows the machine, as in
/// ``Account/word``.
///
/// What a directory service knows as an account of this machine is one, also with an “@” in its name.
struct TypedPrincipal: Sendable {
    /// What the queue calls it: the name of an account, or all of `person:NAME`.
    let user: String
    /// The machine that was named.
    let host: String?
    private let person: Principal?

    fileprivate init(_ text: String) throws(UsageError) {
        if case .person? = Principal(text: text) {
            (user, host, person) = (text, nil, Principal(text: text))
            return
        }
        person = nil
        let end = text.firstIndex(of: ",") ?? text.endIndex
        guard let at = text[..<end].lastIndex(of: "@"), at > text.startIndex,
            text.index(after: at) < end, try Self.local(text) == nil
        else {
            (user, host) = (text, nil)
            return
        }
        user = String(text[..<at] + text[end...])
        host = String(text[text.index(after: at)..<end])
    }

    /// The account of this machine with a name or a number, if there is one.
    private static func local(_ name: String) throws(UsageError) -> Account? {
        do throws(LinuxError) {
            return try Account.local(named: name)
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// The principal, as the records of a queue have it: an account of this machine has no host.
    ///
    /// - Parameter ownHost: What the queue calls this machine; `nil` if accounts without a host are
    ///   those of another one.
    /// - Throws: If this machine has no such account, or the number of another machine's can't be
    ///   told.
    func principal(on ownHost: String?) throws(UsageError) -> Principal {
        if let person { return person }
        let isOwn = host == nil ? ownHost != nil : host.isIdentical(to: ownHost)
        guard !isOwn else {
            guard let account = try Self.local(user) else {
                throw UsageError("there is no account “\(user)”")
            }
            return .account(account)
        }
        guard let uid = user == "root" ? 0 : UInt32(user) else {
            let place = host.map { "@" + $0 } ?? ""
            throw UsageError(
                "“\(user)\(place)” has a name that is not known here; give the number, as in "
                    + "1000\(place)")
        }
        return .account(host.map { Account(uid: uid, host: $0) } ?? Account(uid: uid))
    }
}

extension Argument where Value == TypedPrincipal {
    /// An account, by its name or its number; one of another machine by its number and that, or
    /// `root@HOST`. Or a person, as `person:NAME`.
    static var principal: Argument {
        Argument("ACCOUNT") { text throws(UsageError) in try TypedPrincipal(text) }
    }

    /// What a queue calls somebody: the name of an account, which need not exist any more, or
    /// `person:NAME`.
    static var user: Argument {
        Argument("NAME", .user) { text throws(UsageError) in try TypedPrincipal(text) }
    }
}
