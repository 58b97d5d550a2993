import Linux
import TextFormats

/// The identity on whose behalf an action is taken, and the presenter or verb it came through.
///
/// A store stamps the caller, never the process that does the storing.
package struct Caller: Sendable, Hashable, Codable {
    /// The identity, as the system knows it.
    package var identity: Identity
    /// The presenter's name, or the verb of the command.
    package var via: String

    package init(_ identity: Identity = .current, via: String) {
        self.identity = identity
        self.via = via
    }

    /// A caller that a program claims to act for.
    init(_ responder: Responder) {
        identity = Identity(
            uid: responder.uid, user: responder.user, loginUID: nil, session: nil,
            tty: responder.tty, ssh: responder.ssh, host: responder.host, pid: responder.pid)
        via = responder.via
    }

    /// The caller as it appears in a record.
    package var responder: Responder {
        Responder(
            uid: identity.uid, user: identity.user, via: via, tty: identity.tty,
            ssh: identity.ssh, host: identity.host, pid: identity.pid)
    }

    /// Whether the caller belongs to the account that asked, or is the process itself.
    package func isAsker(_ source: AlertRecord.Source) -> Bool {
        guard source.uid == identity.uid else { return false }
        return source.uid != UserNamespace.unidentified
            || (source.pid == identity.pid && source.host.isIdentical(to: identity.host))
    }

    /// Whether the caller may erase what an account asked: it is that account, or root.
    ///
    /// Accounts that can't be identified share one number and have no rights over one another's
    /// alerts.
    package func hasRight(over owner: UInt32) -> Bool {
        let isOwner = owner == identity.uid && owner != UserNamespace.unidentified
        return isOwner || identity.uid == 0
    }

    /// Whether the caller may take responses to what an account asked, so that they count as
    /// collected: it is that account, or root.
    ///
    /// Accounts that can't be identified share one number, and with it their keys and responses.
    package func mayCollect(from owner: UInt32) -> Bool {
        owner == identity.uid || identity.uid == 0
    }

    /// The same caller through a different presenter or verb.
    package func through(_ via: String) -> Caller { Caller(identity, via: via) }
}
