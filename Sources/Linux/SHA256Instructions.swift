import CLinux

/// The processor's own instructions for SHA-256, which Swift can't express.
package enum SHA256Instructions {
    /// Whether the processor has them.
    package static let areThere = clinux_has_sha256() != 0

    /// Compresses blocks of 64 bytes into the eight words of the state; requires ``areThere``.
    ///
    /// - Parameter constants: The 64 round constants of FIPS 180-4, section 4.2.2.
    package static func compress(
        _ blocks: UnsafeRawPointer, count: Int, into state: UnsafeMutablePointer<UInt32>,
        constants: UnsafePointer<UInt32>?
    ) {
        clinux_sha256(
            state, blocks.assumingMemoryBound(to: UInt8.self), count, constants)
    }
}
