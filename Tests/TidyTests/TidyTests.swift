import Foundation
import Migrations
import TestSupport
import Testing

/// Rules about the source itself, so that reviews can be about ideas.
@Suite("Tidy", .inParallel)
struct TidyTests {
    @Test("Every migration file is embedded, in order, without gaps")
    func migrations() throws {
        let files = try SourceTree.files(in: "Migrations/SQLite", extension: "sql").map {
            $0.deletingPathExtension().lastPathComponent
        }.filter { $0 != "schema" }
        let embedded = Migration.all.map { String(format: "%04d_%@", $0.version, $0.name) }
        #expect(embedded == files.sorted())
        #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
    }

    @Test("Nothing traps on input from outside")
    func traps() throws {
        for file in try SourceTree.files(in: "Sources", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for trap in ["try!", "fatalError(", " as! "] {
                #expect(!text.contains(trap), "\(file.lastPathComponent) uses \(trap)")
            }
        }
    }

    @Test("Only what a signal handler or a Dispatch source needs is exempt from isolation")
    func isolation() throws {
        let exempt = try SourceTree.files(in: "Sources", extension: "swift").filter {
            try String(contentsOf: $0, encoding: .utf8).contains("nonisolated(unsafe)")
        }
        #expect(
            exempt.map(\.lastPathComponent) == [
                "IdleKeyboard.swift", "SystemTerminalClock.swift", "TerminalGuard.swift",
                "TerminalInput.swift",
            ])
    }

    @Test("Only QueueLocation and the benchmarks know which stores there are")
    func stores() throws {
        let sources = SourceTree.root.appending(path: "Sources").path
        let modules = try FileManager.default.contentsOfDirectory(atPath: sources)
        let stores = modules.filter { $0.hasSuffix("Store") }
        #expect(stores.contains("SQLiteStore"))
        for module in modules where module != "alertq-bench" && !stores.contains(module) {
            let importing = try SourceTree.files(in: "Sources/" + module, extension: "swift")
                .filter { file in
                    try String(contentsOf: file, encoding: .utf8)
                        .contains(/(?m)^[^\/\n]*\bimport (\w+ )?\w+Store\b/)
                }.map(\.lastPathComponent)
            #expect(importing == (module == "AlertQueue" ? ["QueueLocation.swift"] : []))
        }
        let manifest = try String(
            contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        for target in manifest.components(separatedBy: "arget(") {
            guard let name = target.firstMatch(of: /name: "([\w-]+)"/)?.1,
                ["alertq", "AlertAgents", "AlertQueueTesting"].contains(name)
            else { continue }
            #expect(!target.contains(/\w+Store"/), "\(name) depends on a store")
        }
    }

    @Test("The top level holds exactly what it should")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
            .filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(
            Set(names) == ["Package.swift", "README.md", "Migrations", "Sources", "Tests"])
    }

    @Test("Every suite says if its tests run in parallel or alone, and every test has a suite")
    func turns() throws {
        for file in try SourceTree.files(in: "Tests", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            let name = file.lastPathComponent
            guard text.contains(/\n *@Test/), name != "TidyTests.swift" else { continue }
            #expect(!text.contains("\n@Test"), "\(name): a test beside all suites")
            #expect(text.contains(#/@Suite\b|(?m)^extension \w+Tests /#), "\(name): no suite")
            for suite in text.split(separator: "@Suite").dropFirst() {
                let traits = suite.prefix { $0 != "{" }
                #expect(
                    traits.contains(".inParallel") || traits.contains(".alone("),
                    "\(name): a suite is neither .inParallel nor .alone")
            }
            #expect(
                !text.contains(".timeLimit("),
                "\(name): .timeLimit counts the wait for a turn, .within does not")
        }
    }
}
