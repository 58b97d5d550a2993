import AlertCore
import Glibc
import Linux
import TextFormats

/// The secret that a client of a TCP port sends, since nothing else says who it is.
package struct ServiceToken: Sendable {
    /// What the log calls it.
    let name: String
    /// Where a client finds it.
    package let place: String
    package let secret: String

    private static let prefix = "aq_"
    /// How many random bytes it has.
    private static let byteCount = 32

    /// A secret of this process alone.
    package static func temporary(named name: String) -> ServiceToken {
        ServiceToken(name: name, place: "this service", secret: newSecret())
    }

    /// The secret in a file that this account alone can read; a new one if there is none.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)``, and ``AlertError/notPermitted(path:_:)`` for a
    ///   file that others could have read or written.
    package init(named name: String, in path: String) throws(AlertError) {
        let secret = try AlertError.onFile(path) { () throws(LinuxError) -> String? in
            let file = try Descriptor.openOrCreate(path, mode: 0o600)
            guard file.isPlainFile, Self.isPrivate(file) else { return nil }
            let found = (file.read() ?? []).filter { $0 != UInt8(ascii: "\n") }
            if !found.isEmpty { return String(decoding: found, as: UTF8.self) }
            let made = Self.newSecret()
            guard file.write((made + "\n").utf8), fsync(file.raw) == 0 else {
                throw .current("write \(path)")
            }
            return made
        }
        guard let secret, secret.hasPrefix(Self.prefix), secret.utf8.count > Self.byteCount else {
            throw .notPermitted(
                path: path,
                "others may have read the token in it, or it is none: delete it, and a new one is "
                    + "made")
        }
        self.init(name: name, place: path, secret: secret)
    }

    private init(name: String, place: String, secret: String) {
        (self.name, self.place, self.secret) = (name, place, secret)
    }

    private static func isPrivate(_ file: Descriptor) -> Bool {
        var status = stat()
        return fstat(file.raw, &status) == 0 && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
    }

    private static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return prefix
            + Hex.text((0..<byteCount).map { _ in .random(in: 0...255, using: &generator) })
    }

    /// Compares a client's word with it, in a time that doesn't depend on what it says.
    func isIdentical(to text: String) -> Bool {
        let (own, given) = (Array(secret.utf8), Array(text.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
