import Glibc
import Linux

/// Ports of this machine.
package enum LocalSocket {
    /// Connects to a port of 127.0.0.1.
    package static func connecting(port: UInt16) throws -> Descriptor {
        let descriptor = try Descriptor(
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0),
            "make a socket")
        let isConnected = withAddress(port) { address, size in
            connect(descriptor.raw, address, size.pointee) == 0
        }
        guard isConnected else { throw LinuxError.current("connect to 127.0.0.1:\(port)") }
        return descriptor
    }

    /// Calls a closure with the address of a port, and returns what the closure returns.
    private static func withAddress(
        _ port: UInt16,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return false
            }
            return body(start, &size)
        }
    }

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
