import AlertCore

/// How accounts of machines are stored, and how this process sees them.
///
/// To every process the accounts of its own machine have no host, as in a queue in files. The
/// database has the name of the machine; but a queue that was copied from a file keeps the accounts
/// of that file's machine as they were, without one, and so its log.
struct HostNames: Sendable {
    /// The name of this machine.
    let own: String
    /// The name of the machine whose accounts are stored without one; empty if there is none.
    let home: String

    private func stored(_ host: String) -> String {
        if host.isEmpty { return own.isIdentical(to: home) ? "" : own }
        return host.isIdentical(to: home) ? "" : host
    }

    private func shown(_ host: String) -> String {
        if host.isEmpty { return own.isIdentical(to: home) ? "" : home }
        return host.isIdentical(to: own) ? "" : host
    }

    func stored(_ principal: Principal) -> Principal { named(principal, stored) }

    func shown(_ principal: Principal) -> Principal { named(principal, shown) }

    private func named(_ principal: Principal, _ name: (String) -> String) -> Principal {
        var principal = principal
        principal.setHost(name(principal.host))
        return principal
    }

    func stored(_ caller: Caller) -> Caller {
        var caller = caller
        caller.principal = stored(caller.principal)
        return caller
    }

    func stored(_ filter: HistoryFilter) -> HistoryFilter {
        var filter = filter
        filter.asker = filter.asker.map(stored)
        filter.userHost = filter.userHost.map(stored)
        return filter
    }

    func shown(_ record: AlertRecord) -> AlertRecord {
        var record = record
        record.nameHosts(shown)
        return record
    }

    /// An entry, whose hash covers the host as it is stored.
    func shown(_ entry: AuditEntry) -> AuditEntry {
        var entry = entry
        entry.nameHosts(shown)
        return entry
    }

    private func shown(_ response: Response) -> Response {
        var response = response
        response.nameHosts(shown)
        return response
    }

    /// An error that names accounts, as this process sees them.
    func shown(_ error: AlertError) -> AlertError {
        switch error {
        case .alreadyResolved(let response): return .alreadyResolved(shown(response))
        case .late(let response): return .late(shown(response))
        case .claimed(let id, var claim):
            claim.by.principal = shown(claim.by.principal)
            return .claimed(id, claim)
        case .notYours(let id, let owner): return .notYours(id, owner: shown(owner))
        case .tooManyPendingOfPrincipal(let principal, let limit):
            return .tooManyPendingOfPrincipal(shown(principal), limit: limit)
        default: return error
        }
    }

    func shown(_ receipt: Receipt) -> Receipt {
        var receipt = receipt
        receipt.record = shown(receipt.record)
        return receipt
    }
}
