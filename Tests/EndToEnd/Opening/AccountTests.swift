import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Accounts", .inParallel, .enabled(if: geteuid() == 0, "needs root"))
struct AccountTests {
    @Test("An account with a long entry is found, and one that can't be looked up isn't missing")
    func entries() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("ask", "Q?", "-b", "yes", "--detach").code == 0)
        let script = """
            { cat /etc/passwd
              printf 'long:x:60007:60007:%020000d:/:/bin/sh\\n' 0
              [ "$2" = huge ] && printf 'huge:x:60008:60008:%05000000d:/:/bin/sh\\n' 0
            } >"$0/passwd"
            mount --bind "$0/passwd" /etc/passwd || exit 99
            exec "$1" show --key k --user "$2" --database "$0/queue.db"
            """
        for (name, code, reason) in [
            ("long", 66, "asked nothing with"), ("huge", 64, "can't look up the account huge: "),
            ("none", 64, "there is no account “none”"), ("60008", 66, "asked nothing with"),
        ] as [(String, Int32, String)] {
            let told = try await Child(
                "unshare",
                ["-m", "sh", "-c", script, queue.directory, CommandLineQueue.program, name]
            ).finish()
            #expect(told.code == code && told.errors.contains(reason), "\(name): \(told)")
        }
    }
}
