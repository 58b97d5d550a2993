import AlertCore

extension SHA256 {
    /// Hashes a whole message.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        message.withUnsafeBytes { message in
            digest.withUnsafeMutableBytes { hash(message, into: $0) }
        }
        return digest
    }
}
