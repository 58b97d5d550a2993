import Foundation
import Glibc
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

@Suite("Servers that can only be read", .inParallel, .needsServer)
struct ReadOnlyServerTests {
    @Test("Processes say little about it, and go on once the server can be written again")
    func standby() async throws {
        let primary = try await PostgreSQLServer(
            isSynced: true, settings: ["synchronous_standby_names": "other"])
        let standby = try await PostgreSQLServer(standbyOf: primary, name: "other")
        let hosts = [primary, standby].map { server in
            server.location.split(separator: " ")[0].dropFirst("host=".count)
        }
        let queue = try CommandLineQueue(
            at: "postgresql:///postgres?host=\(hosts.joined(separator: ","))&user=alertq")
        let made = try await queue.run("doctor", "--setup-postgresql")
        try #require(made.code == 0, "\(made)")
        let flag = queue.directory + "/flag"
        let program = try queue.script(
            "chooser",
            """
            cat > /dev/null
            touch \(queue.directory)/shown
            while [ ! -e \(flag) ]; do sleep 0.1; done
            echo yes
            """)
        let ask = ["ask", "Go on?", "-b", "yes", "--cancel", "no", "--key", "k"]
        let children = [
            try queue.start(["present", "--on", "command:\(program)"]),
            try queue.start(["watch", "--exec", "true"]),
            try queue.start(["watch", "--json"]),
            try queue.start(ask),
        ]
        #expect(await eventually { access(queue.directory + "/shown", F_OK) == 0 })
        let before = children.map { Self.lines($0) }
        try await primary.stop(SIGKILL)
        try await Task.sleep(for: .seconds(FaultForm.count(short: 4, full: 60)))
        let said = zip(children, before).map { Self.lines($0) - $1 }
        FaultForm.report("Read-only server: \(said) lines of present, watch, watch and ask")
        for (child, count) in zip(children, said) {
            #expect(count <= 10, "\(child.errors.text)")
            #expect(child.poll() == nil, "\(child.errors.text)")
        }
        try standby.promote()
        try Data().write(to: URL(filePath: flag))
        let asked = try await queue.start(ask).finish()
        #expect(asked.code == 0 && asked.output == "yes\n", "\(asked)")
        let first = await children[3].finish()
        #expect(first.code == 0 && first.output == "yes\n", "\(first)")
        #expect(children[..<3].allSatisfy { $0.poll() == nil })
        for child in children[..<3] {
            child.kill(SIGTERM)
            _ = await child.exit()
        }
        #expect(try await queue.run("audit", "verify").code == 0)
    }

    private static func lines(_ child: Child) -> Int {
        child.errors.text.count(where: \.isNewline)
    }
}
