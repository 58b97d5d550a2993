import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Every Swift example of the README, of DocC's articles and of the docstrings is compiled.
///
/// All examples of an article make one program, from top to bottom, as a reader would type them. In
/// the README and in docstrings each example is a program of its own; one in a docstring may use
/// the declarations of ``given`` without repeating them.
@Suite("Swift examples", .inParallel)
struct SwiftExampleTests {
    static let articles: [String] = (try? CodeBlock.files(in: "Sources", ".md")) ?? []
    let scratch: CommandLineQueue

    init() throws { scratch = try CommandLineQueue() }

    @Test("The examples of an article make a program that compiles", arguments: articles)
    func article(_ file: String) async throws {
        let blocks = try CodeBlock.all("swift", in: file)
        guard !blocks.isEmpty else { return }
        try await expectToCompile(blocks.map(Self.located).joined())
    }

    @Test("Articles with examples are found")
    func examplesExist() throws {
        let counts = try Self.articles.map { try CodeBlock.all("swift", in: $0).count }
        #expect(counts.filter { $0 > 0 }.count >= 7)
    }

    @Test("Each example of the README compiles")
    func readme() async throws {
        let blocks = try CodeBlock.all("swift", in: "README.md")
        let programs = blocks.filter { !$0.text.hasPrefix(".package(") }
        #expect(!programs.isEmpty && programs.count < blocks.count)
        for block in programs {
            try await expectToCompile(Self.located(block))
        }
    }

    @Test("The README's lines for a manifest find the package and its products")
    func manifest() async throws {
        let blocks = try CodeBlock.all("swift", in: "README.md")
        let block = try #require(blocks.first { $0.text.hasPrefix(".package(") })
        #expect(try await resolve(block.text) == "")
        // A product that does not exist is reported.
        let wrong = block.text.replacing("name: \"AlertQueue\"", with: "name: \"AlertQ\"")
        #expect(try await resolve(wrong).contains("AlertQ"))
    }

    /// The declarations that examples of docstrings may use.
    private static let given = """
        import AlertPresenters
        import AlertQueue
        import AlertQueueTesting
        import Foundation

        enum Decision: AlertChoice { case deploy, later }
        func deploy() async throws {}

        """

    @Test("Every public method of the manager has an example")
    func entryPoints() throws {
        let files = try ["Sources/AlertCore/Manager", "Sources/AlertQueue"]
            .flatMap { try CodeBlock.files(in: $0, ".swift") }
            .filter { $0.contains("/AlertManager") }
        var missing: [String] = []
        #expect(files.count > 10)
        for file in files {
            let text = try String(contentsOf: CodeBlock.root.appending(path: file), encoding: .utf8)
            var docs = ""
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                let code = line.drop { $0 == " " }
                if code.hasPrefix("///") {
                    docs += code + "\n"
                } else if !code.hasPrefix("@") {
                    let isEntrance = code.contains(/^public [a-z() ]*(func [a-z]|init\()/)
                    if isEntrance, !docs.contains("```swift") { missing.append("\(file): \(code)") }
                    docs = ""
                }
            }
        }
        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    }

    @Test("Each example of a docstring compiles")
    func docstrings() async throws {
        let blocks = try CodeBlock.files(in: "Sources", ".swift").flatMap {
            try CodeBlock.all("swift", in: $0)
        }
        #expect(blocks.count >= 6)
        var program = Self.given
        for (number, block) in blocks.enumerated() {
            // Declarations of the block hide those that it is given.
            program += """
                func example\(number)(
                    path: String, manager: AlertManager, alert: Alert, id: Alert.ID,
                    response: Response, deleteEverything: @escaping @Sendable () async -> Void
                ) async throws {
                if true {

                """
            program += Self.located(block) + "_ = manager\n}\n}\n"
        }
        try await expectToCompile(program)
    }

    @Test("An example that does not compile is reported, with its file and line")
    func negativeControl() async throws {
        let article = """
            # Wrong

            ```swift
            import AlertQueue
            ```

            ```swift
            let alert = Alert("Title")
            print(alert.subtitle)
            ```
            """
        let blocks = CodeBlock.all("swift", in: article, of: "Wrong.md")
        let errors = try await compile(blocks.map(Self.located).joined())
        #expect(errors.contains("Wrong.md:9:"), "\(errors)")
        #expect(errors.contains("subtitle"))
        #expect(
            try await compile(Self.located(blocks[0]) + "let unused = { let x = 1 }\n") != "",
            "A warning counts")
    }

    /// A block whose errors name the document.
    private static func located(_ block: CodeBlock) -> String {
        "#sourceLocation(file: \"\(block.file)\", line: \(block.line))\n" + block.text
            + "#sourceLocation()\n"
    }

    private func expectToCompile(_ program: String) async throws {
        let errors = try await compile(program)
        #expect(errors.isEmpty, "\(errors)")
    }

    /// Checks a program as the compiler does; returns the errors.
    private func compile(_ program: String) async throws -> String {
        let folder = try newFolder()
        try program.write(toFile: folder + "/main.swift", atomically: true, encoding: .utf8)
        let modules = URL(filePath: BuiltProgram.path("alertq"))
            .deletingLastPathComponent().appending(path: "Modules").path
        let sources = CodeBlock.root.appending(path: "Sources").path
        let compiler = try Child(
            "swiftc",
            [
                "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", modules,
                "-I", sources + "/CSQLite", "-I", sources + "/CLinux",
                "-I", sources + "/CSystemd", "-I", sources + "/CPostgreSQL", folder + "/main.swift",
            ])
        let code = await compiler.exit(within: .seconds(120))
        let errors = await compiler.errors.complete() + compiler.output.complete()
        return code == 0 ? errors : "exit \(code ?? -1): \(errors)"
    }

    /// Resolves a package whose manifest contains the lines; returns the errors.
    private func resolve(_ lines: String) async throws -> String {
        let lines = lines.split(separator: "\n")
        let folder = try newFolder()
        let package = folder + "/asker"
        let files = FileManager.default
        try files.createDirectory(
            atPath: package + "/Sources/asker", withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: folder + "/alertq", withDestinationPath: CodeBlock.root.path)
        try "".write(
            toFile: package + "/Sources/asker/main.swift", atomically: true, encoding: .utf8)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "asker",
                dependencies: [
                    \(lines[0])
                ],
                targets: [
                    .executableTarget(
                        name: "asker",
                        dependencies: [
                            \(lines[1])
                        ])
                ])
            """
        try manifest.write(
            toFile: package + "/Package.swift", atomically: true, encoding: .utf8)
        let swift = try Child("swift", ["package", "--package-path", package, "show-dependencies"])
        let code = await swift.exit(within: .seconds(120))
        let errors = await swift.errors.complete()
        return code == 0 ? "" : "exit \(code ?? -1): \(errors)"
    }

    private func newFolder() throws -> String {
        let folder = scratch.directory + "/\(UUID())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}
