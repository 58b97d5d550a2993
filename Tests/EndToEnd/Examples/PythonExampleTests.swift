import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// `Tests/Examples/deploy.py`, with every end that its question can come to.
@Suite("Example: a Python script", .inParallel)
struct PythonExampleTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    struct End: Sendable, CustomTestStringConvertible {
        let verb: [String]
        var options: [String] = []
        let code: Int32
        let says: String
        var testDescription: String { (verb + options).joined(separator: " ") }
    }

    static let ends = [
        End(verb: ["answer", "1", "yes"], code: 0, says: "deploying build 42"),
        End(verb: ["answer", "1", "no"], code: 1, says: "chose “no”"),
        End(verb: ["withdraw", "1"], code: 1, says: "took the question back"),
        End(verb: ["cancel", "1"], code: 1, says: "the system cancelled"),
        End(verb: [], options: ["--timeout", "10ms"], code: 1, says: "nobody answered in time"),
        End(
            verb: [], options: ["--timeout", "10ms", "--default", "yes"], code: 0,
            says: "the default is to deploy"),
        End(verb: [], options: ["--wait-for", "10ms"], code: 75, says: "no answer yet"),
        End(
            verb: [], options: ["--if-unattended", "fail"], code: 75,
            says: "nobody is there"),
    ]

    @Test("Each end of the question is told apart", arguments: ends)
    func end(_ end: End) async throws {
        let script = try start(end.options)
        if !end.verb.isEmpty {
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            #expect(try await queue.start(end.verb).exit() == 0)
        }
        let finished = await script.finish()
        #expect(finished.code == end.code, "\(finished.errors)")
        #expect(finished.output.contains(end.says), "\(finished.output)")
        #expect((finished.code == 0) == finished.output.contains("deploying"))
    }

    @Test("Killed while it waits and run again, it gets the answer; what fails is an error")
    func again() async throws {
        let first = try start([])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        first.kill(SIGKILL)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let second = await (try start([])).finish()
        #expect(second.code == 0 && second.output.contains("deploying build 42"))
        let wrong = await (try start(["--timeout", "soon"])).finish()
        #expect(wrong.code == 1 && wrong.errors.contains("deploy.py: alertq ended with 64"))
    }

    private func start(_ options: [String]) throws -> Child {
        let script = CodeBlock.root.appending(path: "Tests/Examples/deploy.py").path
        let bin = queue.directory + "/bin"
        if !FileManager.default.fileExists(atPath: bin) {
            try FileManager.default.createDirectory(
                atPath: bin, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: bin + "/alertq", withDestinationPath: CommandLineQueue.program)
        }
        return try Child(
            "python3", ["-I", script, "42"] + options,
            environment: [
                "ALERTQ_DATABASE": queue.path, "PYTHONDONTWRITEBYTECODE": "1",
                "PATH": "\(bin):\(CodeBlock.path)",
            ])
    }
}
