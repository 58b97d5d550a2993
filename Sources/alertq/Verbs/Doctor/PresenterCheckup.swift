import AlertPresenters
import AlertQueue

/// Which presenters work here, for `alertq doctor`.
enum PresenterCheckup {
    static func findings() -> [Finding] {
        [PresenterKind.terminal, .desktop, .dialog].map { kind in
            guard let problem = PresenterSet([kind]).problem else {
                return Finding(
                    check: "presenters", detail: "\(kind.name) works here: \(usage(kind))")
            }
            // Having one is enough: another that can't work is no problem.
            return Finding(
                check: "presenters", detail: "\(kind.name) does not work here: \(problem)",
                isNote: true)
        }
    }

    private static func usage(_ kind: PresenterKind) -> String {
        kind == .terminal ? "alertq present" : "alertq present --on \(kind.name)"
    }
}
