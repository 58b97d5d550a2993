import Foundation
import Migrations
import TestSupport
import Testing

/// Rules about the source itself, so that review can be about ideas.
@Suite("Tidy", .inParallel)
struct TidyTests {
    @Test("Every migration file is embedded, in order, without gaps")
    func migrations() throws {
        let files = try SourceTree.files(in: "Migrations", extension: "sql").map {
            $0.deletingPathExtension().lastPathComponent
        }.filter { $0 != "schema" }
        let embedded = Migration.all.map { String(format: "%04d_%@", $0.version, $0.name) }
        #expect(embedded == files.sorted())
        #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
    }

    @Test("A folder holds no more than 24 Swift files")
    func folders() throws {
        let files = try ["Migrations", "Sources", "Tests"].flatMap {
            try SourceTree.files(in: $0, extension: "swift")
        }
        let folders = Dictionary(grouping: files) {
            String($0.deletingLastPathComponent().path.dropFirst(SourceTree.root.path.count + 1))
        }
        for (folder, files) in folders {
            #expect(files.count <= 24, "\(folder) holds \(files.count) files; divide it by topic")
        }
    }

    @Test("A file is named as a type or a function of its own, or as an extension and its topic")
    func names() throws {
        let files = try ["Migrations", "Sources", "Tests"].flatMap {
            try SourceTree.files(in: $0, extension: "swift")
        }
        // The subjects of the fuzzer are topics.
        for file in files where !file.path.contains("/Tests/Fuzz/") {
            let name = file.deletingPathExtension().lastPathComponent
            guard name != "main" else { continue }
            let type = name.prefix { $0 != "+" }
            let kinds =
                type == name
                ? "struct|class|enum|actor|protocol|typealias|extension|func" : "extension"
            let text = try String(contentsOf: file, encoding: .utf8)
            let declaration = try Regex("(?i)\\b(\(kinds)) ([A-Za-z]+\\.)*\(type)\\b")
            #expect(text.contains(declaration), "\(file.lastPathComponent) declares no \(type)")
        }
    }

    @Test("A file declares at most one type that other files know")
    func types() throws {
        let declaration = try Regex(
            "(?m)^(?:@[\\w.]+(?:\\(.*?\\))? +)*"
                + "(?:(?:public|package|internal|nonisolated|final|indirect) +)*"
                + "(?:struct|class|enum|actor|protocol|typealias) +\\w+")
        let files = try ["Migrations", "Sources", "Tests"].flatMap {
            try SourceTree.files(in: $0, extension: "swift")
        }
        // A program that is an example is read as one file; a fuzzer's subject is a topic.
        for file in files where !file.path.contains("/Tests/Fuzz/") {
            let name = file.lastPathComponent
            guard name != "main.swift" else { continue }
            let types = try String(contentsOf: file, encoding: .utf8).matches(of: declaration)
            #expect(types.count <= 1, "\(name) declares \(types.count) types; give each a file")
        }
    }

    @Test("Lines, files and unsafe promises stay within limits")
    func limits() throws {
        var unchecked = 0
        let sources = try SourceTree.files(in: "Sources", extension: "swift")
        for file in try sources + SourceTree.files(in: "Tests", extension: "swift") {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let name = file.lastPathComponent
            #expect(lines.count <= 320, "\(name) is too long; split it by topic")
            #expect(lines.allSatisfy { $0.count <= 100 }, "\(name) has a line over 100 columns")
            if sources.contains(file) {
                unchecked += lines.count(where: { $0.contains(": @unchecked Sendable {") })
            }
        }
        #expect(unchecked == 1, "Only QueueConfined may promise what the compiler can't check")
    }

    @Test("Nothing traps on what comes from outside")
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
                "SystemTerminalClock.swift", "TerminalGuard.swift", "TerminalInput.swift",
            ])
    }

    @Test("The top level holds what it should, and nothing else")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
            .filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(
            Set(names) == ["Package.swift", "README.md", "Migrations", "Sources", "Tests"])
    }
}
