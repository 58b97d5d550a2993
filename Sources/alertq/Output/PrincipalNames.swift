import AlertQueue

/// What principals are called, each looked up once: a directory service may take a while.
struct PrincipalNames {
    private var names: [Principal: String] = [:]

    /// The name of an account, or else its number, or a person, as one word.
    mutating func name(of principal: Principal) -> String {
        if let name = names[principal] { return name }
        let name = principal.named.word
        names[principal] = name
        return name
    }
}
