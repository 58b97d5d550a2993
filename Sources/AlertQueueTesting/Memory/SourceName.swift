import AlertCore

/// The identity of a source: an account, and a name in bytes, because names that Swift considers
/// equal may differ in their bytes.
struct SourceName: Hashable {
    let account: Account
    let name: [UInt8]

    init(_ account: Account, _ name: String) {
        self.account = account
        self.name = Array(name.utf8)
    }
}
