import Foundation
import Migrations
import Testing

/// Rules about the source itself, so that review can be about ideas.
@Suite("Tidy")
struct TidyTests {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The package's own modules that each module may import.
    static let mayImport: [String: Set<String>] = [
        "Linux": ["CLinux"],
        "SQLite": ["CSQLite"],
        "AlertQueue": ["CLinux", "Linux", "Migrations", "SQLite"],
        "AlertPresenters": ["AlertQueue", "CLinux", "CSystemd", "Linux"],
        "AlertQueueTesting": ["AlertQueue"],
        "alertq": ["AlertPresenters", "AlertQueue", "CLinux", "Linux"],
        "alertq-bench": [
            "AlertPresenters", "AlertQueue", "CSlowDisk", "Linux", "Migrations", "SQLite",
        ],
    ]

    @Test("Imports follow the dependency table", arguments: mayImport.keys.sorted())
    func imports(module: String) throws {
        let ours = Set(Self.mayImport.keys).union(["CLinux", "CSQLite", "CSystemd", "Migrations"])
        let files = try Self.files(in: "Sources/\(module)", extension: "swift")
        #expect(!files.isEmpty)
        for file in files {
            let imported = try String(contentsOf: file, encoding: .utf8)
                .matches(of: /(?m)^\s*(?:@\w+ )?(?:public |package )?import (\w+)/)
                .map { String($0.1) }
            let allowed = Self.mayImport[module, default: []]
            let forbidden = ours.intersection(imported).subtracting(allowed)
            #expect(forbidden.isEmpty, "\(file.lastPathComponent) imports \(forbidden)")
        }
    }

    @Test("Every module of the package stands in the dependency table")
    func modules() throws {
        let modules = try FileManager.default
            .contentsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
            .filter { !$0.hasPrefix("C") }
        #expect(Set(modules) == Set(Self.mayImport.keys))
    }

    @Test("SQL lives in one folder of the library")
    func sql() throws {
        for file in try Self.files(in: "Sources/AlertQueue", extension: "swift")
        where !file.path.contains("/Store/SQLite/") {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(
                !text.contains("import SQLite\n"), "\(file.lastPathComponent) knows the database")
        }
    }

    @Test("Every migration file is embedded, in order, without gaps")
    func migrations() throws {
        let files = try Self.files(in: "Migrations", extension: "sql").map {
            $0.deletingPathExtension().lastPathComponent
        }.filter { $0 != "schema" }
        let embedded = Migration.all.map { String(format: "%04d_%@", $0.version, $0.name) }
        #expect(embedded == files.sorted())
        #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
    }

    @Test("Lines, files and unsafe promises stay within limits")
    func limits() throws {
        var unchecked = 0
        let sources = try Self.files(in: "Sources", extension: "swift")
        for file in try sources + Self.files(in: "Tests", extension: "swift") {
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
        for file in try Self.files(in: "Sources", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for trap in ["try!", "fatalError(", " as! "] {
                #expect(!text.contains(trap), "\(file.lastPathComponent) uses \(trap)")
            }
        }
    }

    @Test("Only what a signal handler or a Dispatch source needs is exempt from isolation")
    func isolation() throws {
        let exempt = try Self.files(in: "Sources", extension: "swift").filter {
            try String(contentsOf: $0, encoding: .utf8).contains("nonisolated(unsafe)")
        }
        #expect(exempt.map(\.lastPathComponent) == ["TerminalGuard.swift", "TerminalInput.swift"])
    }

    @Test("The top level holds what it should, and nothing else")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path)
            .filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(
            Set(names) == ["Package.swift", "README.md", "Migrations", "Sources", "Tests"])
    }

    private static func files(in folder: String, extension ending: String) throws -> [URL] {
        let folder = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.filter { $0.hasSuffix("." + ending) }.sorted().map {
            folder.appending(path: $0)
        }
    }
}
