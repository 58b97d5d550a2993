/// The identity of a source: an account, and a name in bytes, because names that Swift considers
/// equal may differ in their bytes.
struct SourceName: Hashable {
    let uid: UInt32
    let name: [UInt8]

    init(_ uid: UInt32, _ name: String) {
        self.uid = uid
        self.name = Array(name.utf8)
    }
}
