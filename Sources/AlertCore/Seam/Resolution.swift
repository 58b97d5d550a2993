/// A way for an alert to end.
package enum Resolution: Sendable, Hashable, Codable {
    /// A person or program chose the button with this index; `nil` closes an alert without buttons.
    case choose(button: Int?, Actor = .person, Alert.Input = Alert.Input())
    /// A person or program chose the button with this id.
    case chooseID(String, Actor = .person, Alert.Input = Alert.Input())
    /// The system cancels it; `handled` says whether a delegate has handled that.
    case cancel(handled: Bool, Authority = .own(.program))
    /// Its auto-dismiss timer fired.
    case dismiss
    /// The asker withdraws it; the log records why, if that is given. `onlyIfOrphaned` means that
    /// it has no effect if somebody waits for the alert by then.
    case withdraw(
        Authority = .own(.program), because: String? = nil, onlyIfOrphaned: Bool = false)
    /// Nobody has been there to see it for as long as the asker allowed: it expires now, and its
    /// default button is applied by policy.
    case expireUnattended

    /// Who acts.
    package enum Actor: Sendable, Hashable, Codable {
        /// A presenter that showed the alert took the choice, or a command in the foreground of its
        /// terminal.
        case person
        case program
    }

    /// The right by which a caller ends an alert that may be another account's.
    package enum Authority: Sendable, Hashable, Codable {
        /// The right of an account over its own alerts, and of root over all of its machine.
        case own(Actor)
        /// The caller used force: the alert may be another account's.
        case forced(Actor)
        /// The right of the caller that requested it before, according to the log; for the screen
        /// that carries it out.
        case requested

        /// - Throws: ``AlertError/notYours(_:owner:)`` if the caller may not end the alert.
        func check(_ record: AlertRecord, _ caller: Caller) throws(AlertError) {
            let source = record.source
            guard case .own = self, !caller.isAsker(source),
                !caller.hasRight(over: source.principal)
            else { return }
            throw .notYours(record.id, owner: source.principal)
        }
    }
}
