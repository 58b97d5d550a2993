import AlertQueue
import Linux

/// An account as somebody typed it: `NAME`, or `NAME@HOST` for one of another machine.
///
/// What a directory service knows as an account of this machine is one, also with an “@” in its name.
struct TypedAccount: Sendable {
    let name: String
    /// The machine that was named.
    let host: String?
    /// The account of this machine with that name or number, if there is one.
    fileprivate let local: Account?

    fileprivate init(_ text: String) throws(UsageError) {
        do throws(LinuxError) {
            local = try Account.local(named: text)
        } catch {
            throw UsageError("\(error)")
        }
        guard local == nil, let at = text.lastIndex(of: "@"), at > text.startIndex,
            text.index(after: at) < text.endIndex
        else {
            (name, host) = (text, nil)
            return
        }
        (name, host) = (String(text[..<at]), String(text[text.index(after: at)...]))
    }

    /// - Throws: If its number can't be told.
    fileprivate func account() throws(UsageError) -> Account {
        if let local { return local }
        guard let host else { throw UsageError("there is no account “\(name)”") }
        guard let uid = name == "root" ? 0 : UInt32(name) else {
            throw UsageError(
                "“\(name)@\(host)” has a name that is not known here; give the number, as in "
                    + "1000@\(host)")
        }
        return Account(uid: uid, host: host)
    }
}

extension Argument where Value == Account {
    /// An account, by its name or its number; one of another machine by its number and that, or
    /// `root@HOST`.
    static var account: Argument {
        Argument("ACCOUNT") { text throws(UsageError) in try TypedAccount(text).account() }
    }
}

extension Argument where Value == TypedAccount {
    /// The name of an account, which need not exist any more.
    static var accountName: Argument {
        Argument("NAME", .user) { text throws(UsageError) in try TypedAccount(text) }
    }
}
