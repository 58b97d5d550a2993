import Foundation

/// A simulated disk with a volatile cache: a power loss may lose unsynced data in whole or in part.
///
/// A file's content is safe once the file has been synced, a name once its directory has been. Of
/// all other changes any part may survive, sector by sector and in any order, as POSIX allows; see
/// fsync(2).
struct PretendDisk {
    /// Which unsynced changes survive a power loss.
    enum Survival: CaseIterable {
        /// None.
        case nothing
        /// The oldest changes up to some moment, the last of them torn.
        case oldest
        /// Any sectors of 512 bytes.
        case sectors
        /// Any pages of 4 KiB.
        case pages
    }

    private enum Change {
        case write(offset: Int, Data)
        case resize(Int, onlyGrows: Bool)
    }

    private struct File {
        var content = Data()
        var pending: [Change] = []
    }

    /// The files; unlike inodes, their numbers are never reused.
    private var files: [File] = []
    private var numbers: [UInt64: Int] = [:]
    /// The inode of the directory itself, whose sync makes names safe.
    private(set) var directory: UInt64?
    private var names: [String: Int] = [:]
    private var safeNames: [String: Int] = [:]
    private var pendingNames: [(name: String, file: Int?)] = []

    /// Creates a disk with the current contents of a directory, synced.
    init(holding path: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let inode = try Self.inode(path + "/" + name)
            names[name] = files.count
            numbers[inode] = files.count
            files.append(File(content: try Data(contentsOf: URL(filePath: path + "/" + name))))
        }
        safeNames = names
        directory = try Self.inode(path)
    }

    private static func inode(_ path: String) throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.systemFileNumber] as? UInt64) ?? 0
    }

    /// Applies what a process did.
    mutating func apply(_ record: WriteJournal.Record) {
        switch record {
        case .opened(let name, let inode, let isNew):
            let isKnown = names[name].map { numbers[inode] == $0 } ?? false
            // Another process may use a file before its creation is recorded.
            let isUntold = names[name] == nil && !names.values.contains { $0 == numbers[inode] }
            guard name != ".", !isKnown, isNew || isUntold else { return }
            numbers[inode] = files.count
            change(name, to: files.count)
            files.append(File())
        case .linked(let name, let inode): change(name, to: numbers[inode])
        case .unlinked(let name): change(name, to: nil)
        case .wrote(let inode, let offset, let bytes):
            pend(.write(offset: offset, bytes), to: inode)
        case .resized(let inode, let size, let onlyGrows):
            pend(.resize(size, onlyGrows: onlyGrows), to: inode)
        case .synced(let inode): sync(inode)
        case .acknowledged: break
        }
    }

    private mutating func change(_ name: String, to file: Int?) {
        names[name] = file
        pendingNames.append((name, file))
    }

    private mutating func pend(_ change: Change, to inode: UInt64) {
        guard let file = numbers[inode] else { return }
        files[file].pending.append(change)
    }

    private mutating func sync(_ inode: UInt64) {
        if inode == directory {
            safeNames = names
            pendingNames = []
        } else if let file = numbers[inode] {
            var content = files[file].content
            for change in files[file].pending { Self.apply(change, to: &content) }
            files[file] = File(content: content)
        }
    }

    private static func apply(_ change: Change, to content: inout Data) {
        switch change {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content.append(Data(count: end - content.count)) }
            content.replaceSubrange(offset..<end, with: bytes)
        case .resize(let size, let onlyGrows):
            if content.count < size {
                content.append(Data(count: size - content.count))
            } else if !onlyGrows {
                content.removeSubrange(size...)
            }
        }
    }
}

// MARK: - Power loss

extension PretendDisk {
    /// Writes what a power loss at this moment would leave into an empty directory.
    ///
    /// SQLite's shared memory is left out: it is never read after a restart of the machine.
    func losePower(
        into path: String, _ survival: Survival, using generator: inout some RandomNumberGenerator
    ) throws {
        for (name, file) in survivingNames(survival, &generator).sorted(by: { $0.key < $1.key })
        where !name.hasSuffix("-shm") {
            let content = survivingContent(of: files[file], survival, &generator)
            try content.write(to: URL(filePath: path + "/" + name))
        }
    }

    private func survivingNames(
        _ survival: Survival, _ generator: inout some RandomNumberGenerator
    ) -> [String: Int] {
        var surviving = safeNames
        let oldest = Int.random(in: 0...pendingNames.count, using: &generator)
        for (index, change) in pendingNames.enumerated() {
            let survives =
                switch survival {
                case .nothing: false
                case .oldest: index < oldest
                case .sectors, .pages: Bool.random(using: &generator)
                }
            if survives { surviving[change.name] = change.file }
        }
        return surviving
    }

    private func survivingContent(
        of file: File, _ survival: Survival, _ generator: inout some RandomNumberGenerator
    ) -> Data {
        var content = file.content
        let share = [0.1, 0.5, 0.9].randomElement(using: &generator) ?? 0.5
        let oldest = Int.random(in: 0...file.pending.count, using: &generator)
        for (index, change) in file.pending.enumerated() {
            switch survival {
            case .nothing: return content
            case .oldest where index < oldest: Self.apply(change, to: &content)
            case .oldest where index == oldest:
                Self.apply(change, sectors: 512, share: 0.5, to: &content, &generator)
            case .oldest: return content
            case .sectors:
                Self.apply(change, sectors: 512, share: share, to: &content, &generator)
            case .pages:
                Self.apply(change, sectors: 4096, share: share, to: &content, &generator)
            }
        }
        return content
    }

    /// Applies some whole sectors of a change, chosen at random.
    private static func apply(
        _ change: Change, sectors size: Int, share: Double, to content: inout Data,
        _ generator: inout some RandomNumberGenerator
    ) {
        guard case .write(let offset, let bytes) = change else {
            if Double.random(in: 0..<1, using: &generator) < share { apply(change, to: &content) }
            return
        }
        var start = offset
        while start < offset + bytes.count {
            let end = min((start / size + 1) * size, offset + bytes.count)
            if Double.random(in: 0..<1, using: &generator) < share {
                apply(
                    .write(offset: start, bytes.subdata(in: (start - offset)..<(end - offset))),
                    to: &content)
            }
            start = end
        }
    }
}
