import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Libraries that are found at run time", .inParallel)
struct MissingLibraryTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test(
        "A verb that needs a library that is not there exits with 69, and names its package",
        arguments: [
            ("libpq.so.5", "libpq5", ["list"]),
            ("libpq.so.5", "libpq5", ["ask", "Q", "-b", "yes"]),
            ("libpq.so.5", "libpq5", ["present", "--on", "command:cat"]),
            ("libpq.so.5", "libpq5", ["watch", "--exec", "true"]),
            ("libpq.so.5", "libpq5", ["doctor"]),
            ("libsystemd.so.0", "libsystemd0", ["present", "--on", "desktop"]),
            ("libmicrohttpd.so.12", "libmicrohttpd12", ["serve", "--test"]),
        ])
    func missing(library: String, package: String, words: [String]) async throws {
        let place = library.hasPrefix("libpq") ? ["--database", "postgresql:///alertq"] : []
        let result = try await queue.run(without: library, words + place)
        #expect(result.code == 69, "\(result)")
        #expect((result.errors + result.output).contains("apt-get install \(package)"))
    }

    @Test("A queue in a file needs none of them, and nothing but SQLite is linked")
    func files() async throws {
        for library in ["libpq.so.5", "libsystemd.so.0"] {
            #expect(try await queue.run(without: library, ["notify", "Done"]).code == 0)
            #expect(try await queue.run(without: library, ["list"]).code == 0)
        }
        let libraries = try await Child("ldd", [CommandLineQueue.program]).finish().output
        #expect(libraries.contains("sqlite3"))
        for library in ["systemd", "libpq", "microhttpd"] { #expect(!libraries.contains(library)) }
    }

    @Test("A service without libmicrohttpd serves lines, and says what is missing")
    func lines() async throws {
        let service = try await CommandLineQueue.Service(of: queue, without: "libmicrohttpd.so.12")
        #expect(service.process.errors.text.contains("apt-get install libmicrohttpd12"))
        #expect(access(service.api, F_OK) != 0)
        let served = try CommandLineQueue(behind: service)
        #expect(try await served.run("list", "--count").output == "0\n")
    }
}
