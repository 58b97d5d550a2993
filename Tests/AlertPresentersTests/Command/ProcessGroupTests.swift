import Glibc
import Linux
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Process group", .inParallel)
struct ProcessGroupTests {
    @Test("Signals of the terminal that come while a group begins leave its keeper running")
    func earlySignals() async throws {
        // A shell that has just been started has not run its script yet.
        for _ in 0..<20 {
            let group = try ProcessGroup(
                keeping: "trap '' HUP INT QUIT TERM TSTP; read -r line; exit $line")
            for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] { group.signal(number) }
            group.send("42")
            var status: WaitStatus?
            #expect(
                await eventually(within: .seconds(60)) {
                    status = WaitStatus.reap(group.id, WNOHANG)
                    return status != nil
                })
            #expect(status?.exitCode == 42)
        }
    }
}
