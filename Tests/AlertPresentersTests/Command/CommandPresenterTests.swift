import AlertCore
import Foundation
import Glibc
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Command presenter", .inParallel)
struct CommandPresenterTests {
    static let alert = Alert(
        "Prune?", buttons: [.destructive("Prune", id: "yes"), .cancel("Keep", id: "no")])

    @Test(
        "The button that a program prints is chosen; printing nothing means later",
        arguments: [
            ("echo yes", PresenterChoice.button(0)),
            ("printf no", .button(1)),
            ("cat >/dev/null; sleep 0.05; echo no", .button(1)),
            ("exec <&-; echo yes; exec >&-; exit 0", .button(0)),
            ("echo yes; sleep 60 & exit 0", .button(0)),
            ("echo yes; sleep 60", .button(0)),
            ("exit 0", .close),
            ("echo", .close),
            ("sleep 0.6; exit 1", .close),
            ("sleep 0.6; exit 130", .close),
        ])
    func choices(script: String, choice: PresenterChoice) async throws {
        let program = try ProgramScript(script)
        let appeared = Flag()
        let presentation = Presentation.of(Self.alert, appeared: appeared)
        #expect(try await program.presenter().present(presentation) == choice)
        #expect(await eventually { appeared.isSet })
        #expect(program.log == [])
    }

    @Test(
        "A program that misbehaves chooses nothing, is run three times, and is logged",
        arguments: [
            ("kill -SEGV $$", "was ended by signal 11"),
            ("echo yes; kill -KILL $$", "was ended by signal 9"),
            ("echo yes; exit 3", "ended with exit code 3 (it printed “yes”"),
            ("echo Prune", "printed “Prune”"),
            ("echo YES", "printed “YES”"),
            ("echo 'yes '", "printed “yes ”"),
            ("echo yes; echo no", "printed “yes␊no”"),
            ("printf '\\377'", "not UTF-8"),
            ("yes", "wrote more than 262144 bytes"),
            ("yes no | head -c 100000 >&2; exit 1", "exit code 1 (no; no;"),
            ("no-such-program", "exit code 127"),
            ("exit 1", "ended at once, with exit code 1"),
            ("echo 'a\u{1B}[2Jb' >&2; exit 2", "(a␛[2Jb)"),
        ])
    func failures(script: String, reason: String) async throws {
        let program = try ProgramScript("echo . >>runs\n" + script)
        let presenter = try program.presenter()
        let appeared = Flag()
        let error = await #expect(throws: ProgramError.self) {
            try await presenter.present(.of(Self.alert, appeared: appeared))
        }
        // A busy machine may take long even to start a program.
        if reason.contains("at once") { #expect(!appeared.isSet) }
        #expect(program.lines("runs").count == 3 && program.log.count == 2)
        let last = SafeText.line(error.map { "\($0)" } ?? "")
        #expect(last.contains(reason), "\(last)")
        let line = SafeText.line(program.log.first ?? "")
        #expect(line.contains(reason), "\(line)")
        #expect(line.hasPrefix(SafeText.line("command:\(program.path) ")))
        #expect(line.utf8.count < 6000)
    }

    @Test(
        "A choice has the values that its program has shown, or is none",
        arguments: [
            ("echo yes", false), (#"echo '{"button":"yes"}'"#, false),
            (#"echo '{"button":"yes","values":{"other":"x"}}'"#, false),
            (#"echo '{"button":"yes","values":{"c":"rm"}}'"#, true),
            (#"echo '{"button":"yes","values":{"c":""}}'"#, true), ("echo no", true),
            (#"echo '{"button":"no"}'"#, true),
        ])
    func values(script: String, isChoice: Bool) async throws {
        var alert = Self.alert
        alert.fields = [
            Alert.Field("c", initialValue: .text("rm -rf /srv")), Alert.Field("other"),
        ]
        let program = try ProgramScript(script)
        let presenter = try program.presenter()
        guard !isChoice else {
            _ = try await presenter.present(.of(alert))
            return
        }
        await #expect(throws: ProgramError.self) { try await presenter.present(.of(alert)) }
        #expect(program.log.contains { $0.contains("no value of “c”") })
    }

    @Test(
        "A choice without a value that is required is none, unless it cancels",
        arguments: [("echo yes", false), (#"echo '{"button":"yes"}'"#, false), ("echo no", true)])
    func required(script: String, isChoice: Bool) async throws {
        var alert = Self.alert
        alert.fields = [Alert.Field("copies", .integer(), isRequired: true)]
        let program = try ProgramScript(script)
        let presenter = try program.presenter()
        guard !isChoice else {
            _ = try await presenter.present(.of(alert))
            return
        }
        await #expect(throws: ProgramError.self) { try await presenter.present(.of(alert)) }
    }

    @Test("A program reads the alert as one line, the same that the command prints")
    func input() async throws {
        let program = try ProgramScript("cat >seen; echo yes")
        var alert = Self.alert
        alert.message = "a\nb\u{202E}\u{1B}[2J " + String(repeating: "ü", count: 30_000)
        let presentation = Presentation.of(alert)
        _ = try await program.presenter().present(presentation)
        #expect(program.lines("seen") == [try AlertJSON.line(presentation.record)])
    }

    @Test("When its alert is resolved elsewhere, a program gets SIGTERM and time to clean up")
    func stop() async throws {
        let program = try ProgramScript(
            "trap 'echo cleared >>end; exit' TERM; echo $$ >pid; sleep 60 & echo $! >>pid; wait")
        let task = try presenting(program)
        #expect(await eventually { program.lines("pid").count == 2 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(program.lines("end") == ["cleared"])
        #expect(await eventually { program.lines("pid").allSatisfy { !isRunning($0) } })
        #expect(program.log == [])
    }

    @Test("A program that ignores SIGTERM, or is stopped, is killed with all its children")
    func kill() async throws {
        for script in ["trap '' TERM", "kill -STOP $$"] {
            let program = try ProgramScript("sleep 60 & echo $$ $! >pid; \(script)\nsleep 60\nwait")
            let task = try presenting(program)
            #expect(await eventually { program.lines("pid").count == 1 })
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // The manager gives a presenter two seconds.
            #expect(ContinuousClock.now - start < .seconds(2))
            let pids = program.lines("pid").flatMap { $0.split(separator: " ") }
            #expect(pids.count == 2)
            #expect(await eventually { pids.allSatisfy { !isRunning(String($0)) } })
        }
    }

    @Test(
        "The answer of a program that leaves its process group counts, and the program is ended",
        arguments: ["sleep 60", "trap '' TERM; sleep 60; sleep 60", "kill -STOP $$; sleep 60"])
    func ownSession(rest: String) async throws {
        let program = try ProgramScript("exec setsid sh -c 'echo $$ >pid; echo yes; \(rest)'")
        let start = ContinuousClock.now
        let presenter = try program.presenter()
        #expect(try await presenter.present(.of(Self.alert)) == .button(0))
        // Two seconds after its line, with allowance for a busy machine.
        #expect(ContinuousClock.now - start < .seconds(5))
        let pid = try #require(program.lines("pid").first)
        #expect(await eventually { !exists(pid) })
    }

    @Test(
        "When its alert is resolved elsewhere, a program outside its process group is ended, too",
        arguments: ["trap 'echo cleared >end; exit' TERM", "trap '' TERM", "kill -STOP $$"])
    func ownSessionStopped(habit: String) async throws {
        let program = try ProgramScript(
            "exec setsid sh -c \"\(habit.replacing("$$", with: "\\$\\$")); echo \\$\\$ >pid; "
                + "while :; do sleep 0.05; done\"")
        let task = try presenting(program)
        let isStopping = habit.hasPrefix("kill")
        #expect(
            await eventually { isStopping ? isAnyStopped(in: program) : program.lines("pid") != [] }
        )
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(2))
        #expect(program.lines("end") == (habit.contains("cleared") ? ["cleared"] : []))
        #expect(await eventually { processes(in: program.directory).isEmpty })
    }

    @Test("A daemon that a program leaves running with open pipes is not waited for")
    func daemon() async throws {
        let program = try ProgramScript(
            "setsid sh -c 'echo $$ >pid; exec sleep 60' & until [ -s pid ]; do :; done; echo no")
        let start = ContinuousClock.now
        let presenter = try program.presenter()
        #expect(try await presenter.present(.of(Self.alert)) == .button(1))
        #expect(ContinuousClock.now - start < .seconds(5))
        let pid = try #require(program.lines("pid").first.flatMap { pid_t($0) })
        Glibc.kill(pid, SIGKILL)
        #expect(await eventually { !exists("\(pid)") })
    }

    @Test("Background processes of a program end with it")
    func background() async throws {
        let program = try ProgramScript("sleep 60 & echo $! >pid; echo yes")
        _ = try await program.presenter().present(.of(Self.alert))
        #expect(program.lines("pid").count == 1)
        #expect(await eventually { program.lines("pid").allSatisfy { !isRunning($0) } })
    }

    @Test("A program is started again after it or its keeper was killed")
    func killedByOthers() async throws {
        let program = try ProgramScript(
            """
            echo $$ >>pid
            [ $(wc -l <pid) -gt 2 ] && echo no && exit
            [ $(wc -l <pid) -eq 1 ] && kill -KILL $$
            kill -KILL $(cut -d ' ' -f 5 /proc/$$/stat)
            sleep 60
            """)
        #expect(try await program.presenter().present(.of(Self.alert)) == .button(1))
        #expect(program.log.first?.contains("was ended by signal 9") == true)
        #expect(program.log.last?.contains("lost the process that watches it") == true)
        #expect(await eventually { program.lines("pid").allSatisfy { !isRunning($0) } })
    }

    @Test(
        "A program that can't be started is refused at once",
        arguments: ["", "/nowhere", "/tmp", "no-such-program-here", "/etc/passwd"])
    func missing(program: String) {
        #expect(throws: ProgramError.notFound(program: program)) {
            try CommandPresenter(program)
        }
    }

    private func isAnyStopped(in program: ProgramScript) -> Bool {
        processes(in: program.directory).contains { pid in
            let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            return stat?.split(separator: ")").last?.hasPrefix(" T") == true
        }
    }

    private func presenting(_ program: ProgramScript) throws -> Task<PresenterChoice, any Error> {
        let presenter = try program.presenter()
        return Task { try await presenter.present(.of(Self.alert)) }
    }
}
