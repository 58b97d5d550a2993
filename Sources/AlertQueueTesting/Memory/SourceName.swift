import AlertCore

/// The identity of a source: a principal, and a name in bytes, because names that Swift considers
/// equal may differ in their bytes.
struct SourceName: Hashable {
    let principal: Principal
    let name: [UInt8]

    init(_ principal: Principal, _ name: String) {
        self.principal = principal
        self.name = Array(name.utf8)
    }
}
