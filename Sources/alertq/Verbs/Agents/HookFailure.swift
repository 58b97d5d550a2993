import AlertQueue
import Glibc

/// Why a request could not be put to anyone, or its answer not be waited for.
enum HookFailure: Error, CustomStringConvertible {
    case unreadable(any Error)
    /// The request is valid, and is nothing that an alert can show in full.
    case unshowable(any Error)
    case unreachable(any Error)
    /// The queue takes no such question, or not now.
    case refused(any Error)
    /// The queue contradicts its log.
    case untrusted(any Error)
    /// The reply could not be written.
    case unheard(any Error)
    /// A signal came; the alert stays, if there is one already.
    case interrupted(Int32, Alert.ID?)

    /// Why a question could not be asked or waited for.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as HookFailure: failure
            case let error as AlertError: Self(error)
            case is OutputError: .unheard(error)
            default: .unreachable(error)
            }
    }

    private init(_ error: AlertError) {
        self =
            switch error {
            case .invalid: .unshowable(error)
            case .tooManyPending, .tooManyPendingOfAccount, .keyConflict: .refused(error)
            case .inconsistent: .untrusted(error)
            default: .unreachable(error)
            }
    }

    var description: String {
        switch self {
        case .unreadable(let error):
            "the request for permission can't be read: \(error); nobody was asked"
        case .unshowable(let error):
            "the request for permission can't be shown in full: \(error); nobody was asked"
        case .unreachable(let error): "the queue can't be reached: \(error)"
        case .refused(let error): "nobody can be asked: \(error)"
        case .untrusted(let error): "the queue's record can't be trusted: \(error)"
        case .unheard(let error): "the reply can't be written: \(error)"
        case .interrupted(let signal, nil):
            "interrupted by \(Self.name(of: signal)) before anybody had answered"
        case .interrupted(let signal, let id?):
            "interrupted by \(Self.name(of: signal)) before anybody had answered; alert \(id) "
                + "stays in the queue until it expires, and the same request joins it"
        }
    }

    private static func name(of signal: Int32) -> String {
        switch signal {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGQUIT: "SIGQUIT"
        default: "signal \(signal)"
        }
    }
}
