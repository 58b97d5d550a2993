import AlertQueue
import Linux

/// An account as somebody typed it: `NAME`, or `NAME@HOST` for one of a certain machine. What a user
/// namespace adds to a name follows the machine, as in ``Account/word``.
///
/// What a directory service knows as an account of this machine is one, also with an “@” in its name.
struct TypedAccount: Sendable {
    let name: String
    /// The machine that was named.
    let host: String?

    fileprivate init(_ text: String) throws(UsageError) {
        let end = text.firstIndex(of: ",") ?? text.endIndex
        guard let at = text[..<end].lastIndex(of: "@"), at > text.startIndex,
            text.index(after: at) < end, try Self.local(text) == nil
        else {
            (name, host) = (text, nil)
            return
        }
        name = String(text[..<at] + text[end...])
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

    /// The account, as the records of a queue have it: one of this machine has no host.
    ///
    /// - Parameter ownHost: What the queue calls this machine.
    /// - Throws: If this machine has no such account, or the number of another machine's can't be
    ///   told.
    func account(on ownHost: String) throws(UsageError) -> Account {
        guard let host, !host.isIdentical(to: ownHost) else {
            guard let account = try Self.local(name) else {
                throw UsageError("there is no account “\(name)”")
            }
            return account
        }
        guard let uid = name == "root" ? 0 : UInt32(name) else {
            throw UsageError(
                "“\(name)@\(host)” has a name that is not known here; give the number, as in "
                    + "1000@\(host)")
        }
        return Account(uid: uid, host: host)
    }
}

extension Argument where Value == TypedAccount {
    /// An account, by its name or its number; one of another machine by its number and that, or
    /// `root@HOST`.
    static var account: Argument {
        Argument("ACCOUNT") { text throws(UsageError) in try TypedAccount(text) }
    }

    /// The name of an account, which need not exist any more.
    static var accountName: Argument {
        Argument("NAME", .user) { text throws(UsageError) in try TypedAccount(text) }
    }
}
