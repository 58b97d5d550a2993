/// A way for an alert to end.
package enum Resolution: Sendable, Hashable {
    /// Somebody or something chose the button with this index; `nil` closes an alert without
    /// buttons.
    case choose(button: Int?, Actor = .person)
    /// Somebody or something chose the button with this id.
    case chooseID(String, Actor = .person)
    /// The system cancels it; `handled` tells that a delegate has done what that needs.
    case cancel(handled: Bool, Authority = .own(.program))
    /// Its auto-dismiss timer fired.
    case dismiss
    /// The asker takes it back.
    case withdraw(Authority = .own(.program))
    /// Nobody was there to see it for so long as the asker gave: it expires now, and its default
    /// button is applied by policy.
    case expireUnattended

    /// Who acts.
    package enum Actor: Sendable, Hashable {
        /// A presenter that showed the alert took the choice, or a command in the foreground of its
        /// terminal.
        case person
        case program
    }

    /// By which right somebody ends what another account may have asked.
    package enum Authority: Sendable, Hashable {
        /// That of an account over its own alerts, and of root.
        case own(Actor)
        /// The caller used force: the alert may be another account's.
        case forced(Actor)
        /// That of whoever requested it before, as the log tells; for the screen that carries it
        /// out.
        case requested

        /// - Throws: ``AlertError/notYours(_:owner:)`` if the caller may not end the alert.
        func check(_ record: AlertRecord, _ caller: Caller) throws(AlertError) {
            let source = record.source
            guard case .own = self, !caller.isAsker(source), !caller.hasRight(over: source.uid)
            else { return }
            throw .notYours(record.id, owner: source.uid)
        }
    }
}
