import Glibc
import Linux

/// Ports of this machine.
package enum LocalSocket {
    /// Listens on a port of 127.0.0.1; by default on one that is free.
    package static func listening(
        port: UInt16 = 0
    ) throws -> (descriptor: Descriptor, port: UInt16) {
        let descriptor = try Descriptor(
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0),
            "make a socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return false
            }
            return bind(descriptor.raw, start, size) == 0 && listen(descriptor.raw, 64) == 0
                && getsockname(descriptor.raw, start, &size) == 0
        }
        guard isBound else { throw LinuxError.current("listen on 127.0.0.1") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
