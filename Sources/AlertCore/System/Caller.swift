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

    package var account: Account { identity.account }
    package var process: ProcessIdentity { identity.process }

    /// A caller that a program claims to act for.
    init(_ responder: Responder) {
        identity = Identity(
            responder.account, tty: responder.tty, ssh: responder.ssh, process: responder.process)
        via = responder.via
    }

    /// The caller as it appears in a record.
    package var responder: Responder {
        Responder(
            account, via: via, tty: identity.tty, ssh: identity.ssh, process: process)
    }

    /// Whether the caller belongs to the account that asked, or is the process itself.
    package func isAsker(_ source: AlertRecord.Source) -> Bool {
        source.account == account
            && (account.isIdentified || source.process.isSame(as: process))
    }

    /// Whether the caller may erase what an account asked: it is that account, or root.
    ///
    /// Accounts that can't be identified share one number and have no rights over one another's
    /// alerts.
    package func hasRight(over owner: Account) -> Bool {
        (owner == account && account.isIdentified) || isRoot(over: owner)
    }

    /// Whether the caller may take responses to what an account asked, so that they count as
    /// collected: it is that account, or root.
    ///
    /// Accounts that can't be identified share one number, and with it their keys and responses.
    package func mayCollect(from owner: Account) -> Bool {
        owner == account || isRoot(over: owner)
    }

    /// Root has no rights over the accounts of another host.
    private func isRoot(over owner: Account) -> Bool {
        account.isRoot && account.host.isIdentical(to: owner.host)
    }

    /// The same caller through a different presenter or verb.
    package func through(_ via: String) -> Caller { Caller(identity, via: via) }
}
