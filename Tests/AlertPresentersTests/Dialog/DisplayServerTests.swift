import Glibc
import Linux
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Display server", .inParallel)
struct DisplayServerTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/server"
    }

    /// A socket to which clients can connect.
    private func listen() throws -> Descriptor {
        let server = try Descriptor(
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), "make a socket")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(server.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && Glibc.listen(server.raw, 4) == 0)
        return server
    }

    private func answers(patience: Int32 = 20_000) async throws -> Bool {
        try await Blocking.run("test") { [path] _ in
            DisplayServer.answers([1], at: path, patience: patience)
        }
    }

    @Test("A display server that replies counts as available")
    func replies() async throws {
        let server = try listen()
        async let result = answers()
        let client = try Descriptor(accept(server.raw, nil, nil), "accept")
        var byte = UInt8()
        #expect(recv(client.raw, &byte, 1, 0) == 1 && byte == 1)
        #expect(send(client.raw, &byte, 1, 0) == 1)
        #expect(try await result)
    }

    @Test("A display server that ends during the check counts as unavailable")
    func ends() async throws {
        var server = Optional(try listen())
        async let result = answers()
        // The kernel has accepted the connection once the server's socket is readable.
        var entry = pollfd(fd: server?.raw ?? -1, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 20_000) == 1)
        server = nil
        #expect(try await !result)
    }

    @Test("A slow display server counts as available")
    func busy() async throws {
        let server = try listen()
        #expect(try await answers(patience: 1))
        withExtendedLifetime(server) {}
    }

    @Test("A display server that has ended counts as unavailable")
    func gone() async throws {
        _ = try listen()
        #expect(try await !answers())
        unlink(path)
        #expect(try await !answers())
    }
}
