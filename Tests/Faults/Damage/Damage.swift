import Foundation
import Glibc
import StoreChecks

/// One way to damage a queue's files, drawn from a seed.
struct Damage: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case overwrite, zero, flip, truncate, empty, delete, foreign, older
    }

    static let endings = ["", "-wal", "-shm", "-slot", "-lock", "-bell", "-leases", "-reserve"]

    let kind: Kind
    let ending: String
    /// Whether a process has the queue open at the time.
    let isLive: Bool
    let seed: UInt64
    private var generator: SeededRandom

    init(seed: UInt64) {
        self.seed = seed
        var generator = SeededRandom(seed: seed)
        isLive = Int.random(in: 0..<3, using: &generator) == 0
        // The database and its write-ahead log have the most to lose.
        let weighted = ["", "", "", "-wal", "-wal", "-wal"] + Self.endings
        var ending = weighted.randomElement(using: &generator) ?? ""
        let kind = Kind.allCases.randomElement(using: &generator) ?? .flip
        // The shared memory of a running process is part of its memory: overwriting it can have any
        // effect, and truncating it is SIGBUS, as in every program that uses SQLite.
        if isLive, ending == "-shm", kind != .delete { ending = "-wal" }
        (self.kind, self.ending, self.generator) = (kind, ending, generator)
    }

    var description: String {
        "ALERTQ_DAMAGE_SEED=\(seed) (\(kind) \(ending.isEmpty ? "database" : ending)"
            + "\(isLive ? ", in use" : ""))"
    }

    /// Applies the damage; `foreign` and `older` are directories of other queues.
    func apply(to path: String, foreign: String, older: String) throws {
        var generator = generator
        let file = path + ending
        switch kind {
        case .delete: unlink(file)
        case .empty: truncate(file, 0)
        case .foreign: try replace(file, by: foreign + "/queue.db" + ending)
        case .older: try replace(file, by: older + "/queue.db" + ending)
        case .truncate:
            let size = (try? Data(contentsOf: URL(filePath: file)).count) ?? 0
            truncate(file, off_t(Int.random(in: 0...size, using: &generator)))
        case .overwrite, .zero, .flip: try scribble(file, &generator)
        }
    }

    private func replace(_ file: String, by other: String) throws {
        guard let data = FileManager.default.contents(atPath: other) else { return }
        // While a process uses the file, a new file replaces it; otherwise it is overwritten.
        try data.write(to: URL(filePath: file), options: isLive ? [.atomic] : [])
    }

    /// Changes bytes in place, as a bad disk or a stray pointer would.
    private func scribble(_ file: String, _ generator: inout SeededRandom) throws {
        let descriptor = open(file, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0 else { return }
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let offset = Int.random(in: 0..<size, using: &generator)
            switch kind {
            case .flip:
                var byte: UInt8 = 0
                pread(descriptor, &byte, 1, off_t(offset))
                byte ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                pwrite(descriptor, &byte, 1, off_t(offset))
            case .zero:
                let page = [UInt8](repeating: 0, count: min(4096, size - offset / 4096 * 4096))
                pwrite(descriptor, page, page.count, off_t(offset / 4096 * 4096))
            default:
                let count = min(Int.random(in: 1...600, using: &generator), size - offset)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                pwrite(descriptor, bytes, bytes.count, off_t(offset))
            }
        }
    }
}
