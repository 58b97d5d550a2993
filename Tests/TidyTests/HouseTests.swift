import Foundation
import TestSupport
import Testing

/// The modules and their imports: what the manifest says, what the files do, and what the README
/// shows.
@Suite("House", .inParallel)
struct HouseTests {
    /// What each module may import from the others, as the manifest says.
    static let manifest: [String: Set<String>] = {
        guard let text = try? SourceTree.text("Package.swift") else { return [:] }
        // A conditional dependency counts like any other; the last ones are for the fuzzer.
        let package = text.replacing(/\.target\(name: ("\w+"), condition: [^\]]*\]\)\)/) { $0.1 }
            .split(separator: "\nif Context", maxSplits: 1)[0]
        let targets = package.matches(of: /(?m)^        \.(\w+)\(\s*name: "([^"]+)"/)
        let ends = targets.dropFirst().map(\.range.lowerBound) + [package.endIndex]
        var table: [String: Set<String>] = [:]
        for (target, end) in zip(targets, ends) {
            let body = package[target.range.lowerBound..<end]
            guard ["target", "executableTarget", "systemLibrary"].contains(target.1),
                !body.contains(#"path: "Tests/"#)
            else { continue }
            let list = body.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
            table[String(target.2)] = Set(list.matches(of: /"([^"]+)"/).map { String($0.1) })
        }
        return table
    }()

    /// The modules in Swift, whose files can be checked.
    static let modules = manifest.keys.filter { !$0.hasPrefix("C") && $0 != "Migrations" }.sorted()

    @Test("A module imports exactly what the manifest says", arguments: modules)
    func imports(module: String) throws {
        var imported: Set<String> = []
        for file in try SourceTree.files(in: "Sources/\(module)", extension: "swift") {
            imported.formUnion(
                try String(contentsOf: file, encoding: .utf8)
                    .matches(of: /(?m)^\s*(?:@\w+ )?(?:public |package )?import (\w+)/)
                    .map { String($0.1) })
        }
        #expect(imported.intersection(Self.manifest.keys) == Self.manifest[module])
    }

    @Test("Every folder of Sources is a module of the manifest")
    func folders() throws {
        let folders = try SourceTree.folders(in: "Sources")
        #expect(folders.union(["Migrations"]) == Set(Self.manifest.keys))
    }

    @Test("The README draws all modules, and every import, downwards")
    func drawing() throws {
        let section = try Self.section()
        let block = try #require(section.firstMatch(of: /```\n([^`]*)\n```/)?.1)
        let lines = block.split(separator: "\n")
        let modules = lines.map { String($0.prefix { $0 != " " }) }
        #expect(modules.sorted() == Self.manifest.keys.sorted())
        for (index, module) in modules.enumerated() {
            let above = Self.manifest[module, default: []].intersection(modules[...index])
            #expect(above.isEmpty, "\(module) is below a module that it imports")
        }
        let drawing = ModuleDrawing(modules, imports: Self.manifest)
        let drawn = zip(lines, drawing.rows).map { line, row in String(line.prefix(row.count)) }
        #expect(drawn == drawing.rows)
    }

    @Test("The README counts the requirements of the seam, and names the folders of the store")
    func numbers() throws {
        let section = try Self.section()
        let count = try #require(section.firstMatch(of: /one\s+protocol\s+of\s+(\d+)/)?.1)
        let seam = try SourceTree.text("Sources/AlertCore/Seam/AlertStore.swift")
        let requirements = seam.matches(of: /(?m)^    (?:nonisolated\(\w+\) )?(?:func|var)\b/)
        #expect(Int(count) == requirements.count)
        let names = try #require(section.firstMatch(of: /has\s+the\s+folders\s+([\w\s,]+)\./)?.1)
        let folders = names.matches(of: /[A-Z]\w+/).map { String($0.0) }
        #expect(Set(folders) == (try SourceTree.folders(in: "Sources/SQLiteStore")))
    }

    @Test("The protocol of agents knows nothing of alerts")
    func agentProtocol() throws {
        for file in try SourceTree.files(in: "Sources/alertq/ModelContext", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(/\bAlert(?!Queue\b)/), "\(file.lastPathComponent)")
        }
    }

    @Test("Only presenters and the command depend on traits: .ci/run tests them with all traits")
    func traits() throws {
        for file in try SourceTree.files(in: "Sources", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(/(?m)^\s*#(?:if|elseif).*\b(?:Desktop|Full)\b/) else { continue }
            let module = file.pathComponents.drop { $0 != "Sources" }.dropFirst().first
            #expect(["AlertPresenters", "alertq"].contains(module), "\(file.lastPathComponent)")
        }
    }

    @Test("Every suite says if its tests run in parallel or alone, and every test has a suite")
    func turns() throws {
        for file in try SourceTree.files(in: "Tests", extension: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            let name = file.lastPathComponent
            guard text.contains(/\n *@Test/), name != "HouseTests.swift" else { continue }
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

    /// What the README says of how it is built.
    private static func section() throws -> Substring {
        let readme = try SourceTree.text("README.md")
        let start = try #require(readme.firstRange(of: "\n## How it is built\n"))
        return readme[start.upperBound...]
    }
}
