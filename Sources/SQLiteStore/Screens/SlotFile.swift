import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Synchronization

/// The file of the screens attached to a queue, which also determines which of them leads.
///
/// Each screen has an entry of a fixed length, which only it writes: who it is, what it shows, and
/// when it last gave a sign of life. A lock on the entry's bytes proves that its process has not
/// died: an open-file-description lock (fcntl(2), `F_OFD_SETLK`), which the kernel releases when
/// the process ends.
///
/// Which screen leads is determined by another lock, on a byte far after the entries, whose number
/// is the generation of the lead. Its holder leads if no other screen holds a later generation. So
/// a screen that is stopped, and keeps its locks, can be overtaken: another one takes the next
/// generation, and the stopped one notices that when it continues.
///
/// For example: screen A leads with generation 4 and is stopped. After 3.5 s without a sign of
/// life, B takes byte 5 and leads. When A continues, it sees that byte 5 is locked, and follows.
struct SlotFile: Sendable {
    /// The fixed length of an entry, so that rewriting it does not fail on a full disk.
    static let entryLength = 1024
    /// How many screens may be attached.
    static let capacity = 64
    /// The lock of generation 0 would be on this byte.
    private static let firstGeneration: Int64 = 1 << 40
    /// Locks beyond that are not alertq's.
    private static let lastGeneration: Int64 = 1 << 40

    let path: String
    let mode: mode_t

    /// A screen with an entry.
    struct Attached {
        let index: Int
        let holder: AttachedScreen
        /// 0 if it does not lead.
        let generation: Int64
        /// How long it has given no sign of life; `nil` if that is unknown.
        var silence: Duration?
    }

    /// Gives the file the length of one entry, so that it can be written on a full disk.
    func allocate() {
        let size = FileIdentity(path: path)?.size ?? 0
        guard size < Self.entryLength, let descriptor = try? Descriptor.open(path, mode: mode)
        else { return }
        // If there is no space, nothing can be done here; attaching a screen throws then.
        _ = posix_fallocate(descriptor.raw, 0, off_t(Self.entryLength))
    }

    /// Attaches a screen; `nil` if the file is deleted at this moment.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if there are already 64 screens,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/storage(operation:_:)``.
    func attach(_ holder: AttachedScreen) throws(AlertError) -> SlotEntry? {
        let descriptor = try Descriptor.open(path, mode: mode)
        for index in 0..<Self.capacity {
            if descriptor.tryLock(F_WRLCK, Self.range(ofEntry: index)) {
                let entry = SlotEntry(
                    descriptor: descriptor, file: self, index: index, holder: holder)
                // Deleted between opening and locking: others see another file.
                guard entry.isValid else { return nil }
                try entry.enter()
                entry.ring()
                return entry
            }
            guard errno == EAGAIN || errno == EACCES else {
                throw SystemError.current("lock", path)
            }
        }
        throw .busy(
            "\(Self.capacity) screens show this queue, which is the maximum; "
                + "end one of them and try again")
    }

    /// The screen that leads; `nil` if none does.
    func leader() -> Attached? { Descriptor.openForReading(path).flatMap { leader(of: $0) } }

    /// The screen that leads with a generation later than this one; `nil` if none does.
    ///
    /// Between taking the lead and writing its text, a screen is unknown.
    func leader(of file: Descriptor, above own: Int64 = 0) -> Attached? {
        guard let generation = Self.generations(of: file).max(), generation > own else {
            return nil
        }
        return living(in: file).first { $0.generation == generation }
            ?? Attached(index: -1, holder: .unknown, generation: generation)
    }

    /// The attached screens.
    func roster() -> ScreenRoster {
        guard let file = Descriptor.openForReading(path) else { return ScreenRoster() }
        return roster(of: file)
    }

    /// The screens other than one; a leader is included only if it has a later generation.
    func roster(
        of file: Descriptor, besides own: Int? = nil, above generation: Int64 = 0
    ) -> ScreenRoster {
        let living = living(in: file)
        let last = Self.generations(of: file).max() ?? 0
        let found = last > generation ? living.first { $0.generation == last } : nil
        let leader = found ?? leader(of: file, above: generation)
        let others = living.filter { $0.index != own && $0.index != leader?.index }
        let followers = others.map { other in
            var screen = other.holder
            // A screen that was overtaken without noticing is stopped: nobody can answer there.
            let isOvertaken = other.generation > 0 && other.generation < generation
            if isOvertaken { screen.silence = other.silence ?? .zero }
            return screen
        }
        return ScreenRoster(leader: leader?.holder, followers: followers)
    }

    // MARK: - Locks

    static func range(ofEntry index: Int) -> LockRange {
        LockRange(start: Int64(index * entryLength), length: Int64(entryLength))
    }

    static func range(of generation: Int64) -> LockRange {
        LockRange(start: firstGeneration + generation, length: 1)
    }

    /// The generations that others hold.
    static func generations(of file: Descriptor) -> Set<Int64> {
        var found: Set<Int64> = []
        var unseen = [later(than: 0)]
        // The kernel reports any one lock in a range: others may be on both sides of it.
        while let range = unseen.popLast(), found.count <= capacity {
            guard let lock = file.otherLock(on: range), lock.length == 1 else { continue }
            found.insert(lock.start - firstGeneration)
            let (before, after) = (lock.start - range.start, range.end - lock.start - 1)
            if before > 0 { unseen.append(LockRange(start: range.start, length: before)) }
            if after > 0 { unseen.append(LockRange(start: lock.start + 1, length: after)) }
        }
        return found
    }

    /// Whether others hold a later generation.
    static func isOvertaken(_ generation: Int64, in file: Descriptor) -> Bool {
        generation < lastGeneration && file.otherLock(on: later(than: generation)) != nil
    }

    private static func later(than generation: Int64) -> LockRange {
        LockRange(
            start: firstGeneration + generation + 1, length: lastGeneration - generation)
    }

    // MARK: - Texts

    /// The entries whose locks others hold; the text of a dead screen may still be there.
    private func living(in file: Descriptor) -> [Attached] {
        entries(of: file).filter { file.otherLock(on: Self.range(ofEntry: $0.index)) != nil }
    }

    /// The texts of the entries, including those of dead screens.
    private func entries(of file: Descriptor) -> [Attached] {
        var bytes = [UInt8](repeating: 0, count: Self.entryLength * Self.capacity)
        let count = max(0, pread(file.raw, &bytes, bytes.count, 0))
        return (0..<Self.capacity).compactMap { index in
            let start = index * Self.entryLength
            guard start < count else { return nil }
            let end = min(start + Self.entryLength, count)
            return SlotText(bytes[start..<end])?.attached(at: index)
        }
    }
}

/// The text of a screen's entry: a line of JSON with its identity and what it shows, a line with
/// its last sign of life, and a line with the generation that it leads.
struct SlotText {
    var holder: AttachedScreen
    /// `nil` if the names of its presenters leave no room for a sign.
    var sign: Heartbeat?
    /// 0 for a screen that does not lead.
    var generation: Int64

    init(of holder: AttachedScreen, leading generation: Int64) {
        self.holder = holder
        sign = .now
        self.generation = generation
    }

    /// Reads the bytes of an entry; `nil` if they are something else.
    init?(_ bytes: ArraySlice<UInt8>) {
        let lines = bytes.prefix { $0 != 0 }.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let text = lines.first, !text.isEmpty,
            let holder = try? JSONDecoder().decode(AttachedScreen.self, from: Data(text))
        else { return nil }
        self.holder = holder
        sign = lines.dropFirst().first.flatMap {
            Heartbeat(line: String(decoding: $0, as: UTF8.self))
        }
        generation =
            lines.dropFirst(2).first.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// The screen whose entry this is.
    func attached(at index: Int) -> SlotFile.Attached {
        var holder = holder
        holder.silence = sign?.overdue()
        return SlotFile.Attached(
            index: index, holder: holder, generation: generation, silence: sign?.age())
    }

    /// The bytes of an entry; `nil` if the screen's names leave no room.
    var bytes: [UInt8]? {
        guard let json = try? JSONEncoder().encode(holder) else { return nil }
        var bytes = Array(json)
        let newline = UInt8(ascii: "\n")
        let end = Array("\(generation)\n".utf8)
        bytes.append(newline)
        let hasRoom = bytes.count + Heartbeat.now.line.count + end.count <= SlotFile.entryLength
        // If the names leave no room for a sign, there is none, and the screen counts as present.
        bytes += hasRoom ? sign?.line ?? [newline] : [newline]
        bytes += end
        guard bytes.count <= SlotFile.entryLength else { return nil }
        return bytes + [UInt8](repeating: 0, count: SlotFile.entryLength - bytes.count)
    }
}

/// The slot file entries of a store's attached screens.
final class AttachedEntries: Sendable {
    private struct Reference {
        weak var entry: SlotEntry?
    }

    private let references = Mutex<[Reference]>([])

    func add(_ entry: SlotEntry) {
        references.withLock { references in
            references.removeAll { $0.entry == nil }
            references.append(Reference(entry: entry))
        }
    }

    /// Writes a sign of life of this process.
    func giveSigns() {
        for entry in references.withLock({ $0.compactMap(\.entry) }) { entry.giveSign() }
    }
}

extension Descriptor {
    /// Opens a file of a queue for reading and writing; a missing one is created with exactly
    /// `mode`, regardless of the umask.
    ///
    /// One that root creates next to another account's database belongs to that account, which
    /// could not use it otherwise; SQLite does the same with its own files. No file that exists
    /// changes its owner: it may have been put there by somebody who wants it.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)`` or ``AlertError/storage(operation:_:)``.
    static func open(_ path: String, mode: mode_t) throws(AlertError) -> Descriptor {
        let descriptor: Descriptor
        do {
            descriptor = try openOrCreate(path, mode: mode) { leave($0, toOwnerOf: path) }
        } catch {
            throw error.code == ELOOP ? refusal(of: path) : AlertError(error, path: path)
        }
        guard descriptor.isPlainFile else { throw refusal(of: path) }
        return descriptor
    }

    private static func leave(_ file: Int32, toOwnerOf path: String) {
        var database = stat()
        guard geteuid() == 0, let ending = QueueFiles.endings.first(where: path.hasSuffix),
            stat(String(path.dropLast(ending.count)), &database) == 0, database.st_uid != 0
        else { return }
        // If that fails, the file is root's, and its owner gets an error that says so.
        _ = fchown(file, database.st_uid, database.st_gid)
    }

    private static func refusal(of path: String) -> AlertError {
        .notPermitted(path: path, "it is a link or not a regular file, and is not touched")
    }
}
