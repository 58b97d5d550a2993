import Foundation

/// An example in a document: the lines between two fences.
struct CodeBlock: Sendable {
    /// The root of the package.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The articles about the library and the command.
    static let articles = "Sources/AlertQueue/AlertQueue.docc/"

    /// The directories in which programs are found.
    static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

    /// The file, from the root of the package.
    let file: String
    /// The number of its first line, from 1.
    let line: Int
    let text: String

    /// The blocks of a language in a file, in order; in a Swift file, those of its docstrings.
    static func all(_ language: String, in file: String) throws -> [CodeBlock] {
        let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        return all(language, in: text, of: file)
    }

    /// The blocks of a language in a text.
    static func all(_ language: String, in text: String, of file: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var lines: [Substring] = []
        var start: Int?
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, whole) in all.enumerated() {
            guard let line = file.hasSuffix(".swift") ? comment(whole) : whole else { continue }
            if let first = start, line == "```" {
                let text = lines.joined(separator: "\n") + "\n"
                blocks.append(CodeBlock(file: file, line: first, text: text))
                (start, lines) = (nil, [])
            } else if start != nil {
                lines.append(line)
            } else if line == "```" + language {
                start = index + 2
            }
        }
        return blocks
    }

    /// The text of a line of a docstring.
    private static func comment(_ line: Substring) -> Substring? {
        let code = line.drop { $0 == " " }
        guard code.hasPrefix("///") else { return nil }
        return code.dropFirst(3).hasPrefix(" ") ? code.dropFirst(4) : code.dropFirst(3)
    }

    /// The text of a file, whose path starts at the root of the package.
    static func text(of file: String) throws -> String {
        try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    /// The files below a folder whose names have an ending.
    static func files(in folder: String, _ ending: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(ending) }.sorted().map { folder + "/" + $0 }
    }
}
