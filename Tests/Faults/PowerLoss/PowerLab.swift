import Foundation
import ProcessTesting
import TestSupport
import Testing

/// A laboratory with a simulated disk, in which processes can lose power.
final class PowerLab: Sendable {
    private let directory: String
    private let library: String
    /// The path of the plain loop of SQLite calls, `plain.c`.
    let plain: String

    /// Compiles the library that writes the journal, and the plain loop.
    init() throws {
        directory = "/tmp/alertq-power-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        library = directory + "/journal.so"
        plain = directory + "/plain"
        let sources = URL(filePath: #filePath).deletingLastPathComponent().path
        try Self.compile(
            ["-shared", "-fPIC", "-o", library, sources + "/journal.c", "-ldl"])
        try Self.compile(["-o", plain, sources + "/plain.c", "-lsqlite3"])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func compile(_ arguments: [String]) throws {
        let words = ["-O1", "-Wall", "-Werror"] + arguments
        // Swift's toolchain includes clang, but it may not be in the path.
        let compiler = try (try? Child("clang", words)) ?? Child("cc", words)
        try #require(compiler.wait() == 0, "\(compiler.errors.text)")
    }

    /// An empty directory, removed together with the laboratory.
    func emptyDirectory() throws -> String {
        let path = directory + "/\(UUID())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Begins recording what happens in a directory whose contents count as synced.
    func begin(in path: String) throws -> Recording {
        Recording(
            directory: path, journal: directory + "/\(UUID()).journal", library: library,
            disk: try PretendDisk(holding: path))
    }

    /// A recording of one directory since its contents were last known to be on the disk.
    struct Recording: Sendable {
        let directory: String
        let journal: String
        let library: String
        private let disk: PretendDisk

        fileprivate init(directory: String, journal: String, library: String, disk: PretendDisk) {
            (self.directory, self.journal, self.library) = (directory, journal, library)
            self.disk = disk
        }

        /// The environment variables with which a process is recorded.
        ///
        /// - Parameter lie: The end of the names of files whose syncs do nothing.
        func environment(lyingAbout lie: String? = nil) -> [String: String] {
            // The thread sanitizer's runs preload a library of their own.
            let libraries = [library, ProcessInfo.processInfo.environment["LD_PRELOAD"]]
            var variables = [
                "LD_PRELOAD": libraries.compactMap(\.self).joined(separator: " "),
                "POWER_DIRECTORY": directory, "POWER_JOURNAL": journal,
            ]
            variables["POWER_LIE"] = lie
            return variables
        }

        func records() throws -> [WriteJournal.Record] {
            guard FileManager.default.fileExists(atPath: journal) else { return [] }
            return try WriteJournal(path: journal).records
        }

        /// Cuts the power after some records, and writes what survives into a directory.
        func cut(
            after records: ArraySlice<WriteJournal.Record>, into path: String,
            _ survival: PretendDisk.Survival,
            using generator: inout some RandomNumberGenerator
        ) throws {
            var disk = disk
            for record in records { disk.apply(record) }
            try disk.losePower(into: path, survival, using: &generator)
        }
    }
}

extension Sequence<WriteJournal.Record> {
    /// What all processes wrote to their standard output.
    var acknowledgements: String {
        var texts: [Int: String] = [:]
        for case .acknowledged(let pid, let bytes) in self {
            texts[pid, default: ""] += String(decoding: bytes, as: UTF8.self)
        }
        return texts.sorted { $0.key < $1.key }.map(\.value).joined()
    }

    /// Whether anything was written to a file.
    func hasWritten(to name: String) -> Bool {
        var inode: UInt64?
        for record in self {
            switch record {
            case .opened(name, let opened, _), .linked(name, let opened): inode = opened
            case .wrote(let written, _, _) where written == inode: return true
            default: break
            }
        }
        return false
    }
}
