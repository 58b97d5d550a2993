import Glibc
import TestSupport
import Testing

@testable import AlertAgents

@Suite("Programs that ask", .inParallel)
struct AskingProgramTests {
    private func name(_ program: String, _ words: String...) -> AskingProgram.Name {
        AskingProgram.Name(ProcessStart(program: program, words: words, parent: 1))
    }

    @Test("A program is known by its name, and a script by its own")
    func names() {
        #expect(name("codex", "codex", "mcp") == .known("codex"))
        #expect(name("python3.11", "python3", "-B", "-X", "dev", "/srv/a.py") == .known("a.py"))
        #expect(name("python3.11", "python3", "-um", "shop.agent") == .known("shop.agent"))
        #expect(name("python3.11", "/venv/bin/python", "/venv/bin/ag") == .known("ag"))
        #expect(name("node", "node", "-r", "./x.js", "/opt/a/index.js") == .known("index.js"))
        #expect(name("bun", "bun", "run", "a.ts") == .known("a.ts"))
        #expect(name("java", "java", "-cp", "a:b", "shop.Main") == .known("shop.Main"))
        #expect(name("java", "java", "-Xmx1g", "-jar", "/x/a.jar", "run") == .known("a.jar"))
        #expect(name("ruby3.1", "ruby", "-w", "a.rb", "-c") == .known("a.rb"))
        #expect(name("dash", "sh", "-e", "/x/agent.sh", "-c") == .known("agent.sh"))
        #expect(name("bash", "bash", "-o", "pipefail", "agent.sh") == .known("agent.sh"))
    }

    @Test("An interpreter without a script has no name, and a wrapper gives that of its parent")
    func without() {
        #expect(name("python3.11", "python3", "-c", "import x") == .unknown)
        #expect(name("python3.11", "python3", "-Bc", "import x") == .unknown)
        #expect(name("python3.11", "python3") == .unknown)
        #expect(name("python3.11", "python3", "-") == .unknown)
        #expect(name("python3.11", "python3", "-m") == .unknown)
        #expect(name("node", "node", "--eval", "x") == .unknown)
        #expect(name("bash", "-bash") == .unknown)
        #expect(name("bash", "bash", "-ec", "alertq mcp") == .wrapper)
        #expect(name("timeout", "timeout", "5", "alertq") == .wrapper)
        #expect(name("python3.11") == .unknown)
    }

    @Test("A few wrappers are looked through, and no more")
    func wrappers() {
        func found(_ count: Int32) -> String? {
            AskingProgram.name(from: 100) { pid in
                pid < 100 + count
                    ? ProcessStart(program: "sh", words: ["sh", "-c", "x"], parent: pid + 1)
                    : ProcessStart(program: "agent", words: [], parent: 1)
            }
        }
        #expect(found(0) == "agent" && found(4) == "agent" && found(5) == nil)
        #expect(
            AskingProgram.name(from: 1) { _ in
                Issue.record("asked")
                return nil
            } == nil)
        #expect(AskingProgram.name(from: 7) { _ in nil } == nil)
    }

    @Test("A process is seen as it was started")
    func process() throws {
        let start = try #require(ProcessStart(of: getpid()))
        #expect(start.parent == getppid() && start.words.first == CommandLine.arguments.first)
        #expect(!start.program.isEmpty && !start.program.contains("/"))
        #expect(ProcessStart(of: -1) == nil)
    }

    @Test("The name of a library tells no programs apart")
    func libraries() {
        for name in ["mcp", "rmcp", "", " "] { #expect(!AskingProgram.isTold(by: name)) }
        for name in ["claude-code", "MCP", "mcp2"] { #expect(AskingProgram.isTold(by: name)) }
    }
}
