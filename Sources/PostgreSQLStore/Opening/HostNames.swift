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

    func stored(_ account: Account) -> Account {
        var account = account
        account.host = stored(account.host)
        return account
    }

    func stored(_ caller: Caller) -> Caller {
        var caller = caller
        caller.account = stored(caller.account)
        return caller
    }

    func stored(_ filter: HistoryFilter) -> HistoryFilter {
        var filter = filter
        filter.account = filter.account.map(stored)
        filter.userHost = filter.userHost.map(stored)
        return filter
    }

    func shown(_ record: AlertRecord) -> AlertRecord {
        var record = record
        let (source, responder) = (record.source.account, record.response?.responder?.account)
        record.setAccounts(
            source: shown(source.host), responder: responder.map { shown($0.host) })
        return record
    }

    /// An entry, whose hash covers the host as it is stored.
    func shown(_ entry: AuditEntry) -> AuditEntry {
        var entry = entry
        entry.setResponder(host: shown(entry.event.responder.account.host))
        return entry
    }

    private func shown(_ response: Response) -> Response {
        var response = response
        if let host = response.responder?.account.host {
            response.setResponder(host: shown(host))
        }
        return response
    }

    /// An error that names accounts, as this process sees them.
    func shown(_ error: AlertError) -> AlertError {
        switch error {
        case .alreadyResolved(let response): return .alreadyResolved(shown(response))
        case .late(let response): return .late(shown(response))
        case .notYours(let id, let owner): return .notYours(id, owner: shown(owner))
        case .tooManyPendingOfAccount(let account, let limit):
            return .tooManyPendingOfAccount(shown(account), limit: limit)
        default: return error
        }
    }

    func shown(_ account: Account) -> Account {
        var account = account
        account.host = shown(account.host)
        return account
    }

    func shown(_ receipt: Receipt) -> Receipt {
        var receipt = receipt
        receipt.record = shown(receipt.record)
        return receipt
    }
}
