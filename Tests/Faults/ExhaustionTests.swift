import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Exhaustion", .inParallel)
struct ExhaustionTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Runs a detached ask, and one that waits for a moment, under a limit.
    private func expectErrorOrSuccess(
        _ words: [String], as account: LinuxAccount? = nil, _ ledger: Ledger
    ) async throws {
        for verb in [["ask", "Q", "--detach"], ["ask", "Q", "--wait-for", "100ms"]] {
            let child = try queue.start(
                verb, under: words, as: account)
            let finished = await child.finish()
            // The dynamic loader may fail before the program starts.
            let isUnloaded = finished.code == 127 && finished.errors.contains("shared librar")
            let isDone = finished.code == 0 || finished.code == 15
            #expect(
                isDone || isUnloaded || finished.isRefusal,
                "\(words) \(verb): \(finished)")
            if finished.code == 0, let id = Int(finished.output.dropLast()) {
                ledger.note(ask: id, title: "Q")
            }
        }
    }

    /// The options of prlimit(1) for scarce resources, with small values for each.
    static let scarcities = [
        ("--nofile", Array(stride(from: 3, through: 45, by: FaultForm.count(short: 3, full: 1)))),
        // The kernel itself kills an executable that doesn't fit, which in a debug build has 21 MB.
        (
            "--as",
            stride(from: 28, through: 260, by: FaultForm.count(short: 24, full: 4)).map { $0 << 20 }
        ),
    ]

    @Test(
        "Too few descriptors or too little memory lead to an error, not to a crash or a hang",
        arguments: scarcities)
    func limits(option: String, values: [Int]) async throws {
        #expect(try await queue.run("notify", "First").code == 0)
        let ledger = Ledger()
        if option == "--as", let sanitizer = Sanitizer.name {
            return FaultForm.report(
                "left out: \(option), because the \(sanitizer) sanitizer needs much memory")
        }
        for value in values {
            try await expectErrorOrSuccess(["prlimit", "\(option)=\(value)"], ledger)
        }
        #expect(!ledger.all.asked.isEmpty)
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test(
        "Too few threads lead to an error, not to a hang",
        .enabled(if: geteuid() == 0, "only root can run processes as a user without any others"))
    func threads() async throws {
        // A user of this test alone: the limit counts all threads of a user.
        let account = LinuxAccount(uid: 61_234, gid: 61_234)
        #expect(chown(queue.directory, account.uid, account.gid) == 0)
        let ledger = Ledger()
        let limits = FaultForm.isFull ? Array(1...16) : [1, 4, 24]
        for limit in limits {
            try await expectErrorOrSuccess(["prlimit", "--nproc=\(limit)"], as: account, ledger)
        }
        #expect(!ledger.all.asked.isEmpty)
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test(
        "A limit on the size of files leads to an error, not to death by a signal",
        .enabled(if: Sanitizer.name != "thread", "the sanitizer maps a larger file of its own"))
    func fileSize() async throws {
        #expect(try await queue.run("ask", "First", "--detach").code == 0)
        let ledger = Ledger()
        let sizes = FaultForm.isFull ? (0...13).map { 1 << $0 } + [0] : [0, 16, 128, 65_536]
        for kibibytes in sizes {
            try await expectErrorOrSuccess(["prlimit", "--fsize=\(kibibytes << 10)"], ledger)
        }
        #expect(!ledger.all.asked.isEmpty)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test(
        "An asker that gets no inotify instance still receives its answer, and does not spin",
        .enabled(if: geteuid() == 0, "only root can use up another user's instances"))
    func inotify() async throws {
        let account = LinuxAccount(uid: 61_235, gid: 61_235)
        #expect(chown(queue.directory, account.uid, account.gid) == 0)
        let eater = try Child("/usr/bin/python3", ["-c", Self.eatInstances], as: account)
        #expect(await eventually { eater.output.text.contains("used up") })
        defer { eater.kill(SIGKILL) }
        let asker = try queue.start(["ask", "Well?", "-b", "yes", "--cancel", "no"], as: account)
        #expect(await eventually { asker.errors.text.contains("answer with") })
        #expect(!(try Self.files(of: asker.pid).contains { $0.contains("inotify") }))
        try await expectNoSpinning(asker.pid)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
        #expect(await asker.output.complete() == "yes\n")
    }

    private static let eatInstances = """
        import ctypes, time
        libc = ctypes.CDLL(None)
        while libc.inotify_init1(0) >= 0: pass
        print("used up", flush=True)
        time.sleep(600)
        """

    static func files(of pid: pid_t) throws -> [String] {
        let folder = "/proc/\(pid)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0)
        }
    }
}

/// Expects that a process uses little of the processor time that a spinning one gets meanwhile,
/// even on a busy machine.
func expectNoSpinning(_ pid: pid_t) async throws {
    let control = try Child("sh", ["-c", "while :; do :; done"])
    // A process that has ended meanwhile does not spin.
    guard let before = try? processorTime(of: pid) else { return }
    #expect(
        try await eventually(each: .milliseconds(100)) {
            try processorTime(of: control.pid) > .seconds(1)
        })
    guard let after = try? processorTime(of: pid) else { return }
    let used = after - before
    let spun = try processorTime(of: control.pid)
    // One that looks once a second does that more often while the other gets little of a busy machine.
    #expect(used < spun / 2, "\(used), while a spinning process got \(spun)")
}

/// The time that a process has spent on a processor; see proc(5), `stat`, fields 14 and 15.
func processorTime(of pid: pid_t) throws -> Duration {
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let fields = text.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) } ?? []
    // The state is not a number: field 14 is the eleventh number.
    guard fields.count > 11 else { throw POSIXError(.ESRCH) }
    return .milliseconds((fields[10] + fields[11]) * 1000 / sysconf(Int32(_SC_CLK_TCK)))
}
