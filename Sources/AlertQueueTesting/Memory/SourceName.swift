/// What tells sources apart: an account, and a name in bytes, because texts that only Swift takes
/// for equal are two names.
struct SourceName: Hashable {
    let uid: UInt32
    let name: [UInt8]

    init(_ uid: UInt32, _ name: String) {
        self.uid = uid
        self.name = Array(name.utf8)
    }
}
