import AlertQueue

/// The names of accounts, each looked up once: a directory service may take a while.
struct AccountNames {
    private var names: [Account: String] = [:]

    /// The name, or else the number, as one word.
    mutating func name(of account: Account) -> String {
        if let name = names[account] { return name }
        let name = account.named.word
        names[account] = name
        return name
    }
}
