import AlertCore
import FoundationEssentials
import Glibc
import Linux

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
///
/// Earlier versions lock the whole file while they present, and read the first entry's text.
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
    private let known = KnownScreens()

    /// A screen with an entry.
    struct Attached {
        var index = 0
        var holder: AttachedScreen
        /// 0 if it does not lead; an earlier version leads with 0, and can't be overtaken.
        var generation: Int64
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

    /// Attaches a screen; `nil` while a process of an earlier version presents.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if there are already 64 screens,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/storage(operation:_:)``.
    func attach(_ holder: AttachedScreen) throws(AlertError) -> SlotEntry? {
        // Opening for writing and closing again would wake all waiting processes: look first.
        if let file = Descriptor.openForReading(path), Self.isTakenByEarlierVersion(file) {
            return nil
        }
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
            if Self.isTakenByEarlierVersion(descriptor) { return nil }
        }
        throw .busy(
            "\(Self.capacity) screens show this queue, which is the maximum; "
                + "end one of them and try again")
    }

    /// The screen that leads; `nil` if none does.
    ///
    /// Between taking the lead and writing its text, a screen has no text: reading is repeated for
    /// a moment.
    func leader() -> Attached? { Descriptor.openForReading(path).flatMap { leader(of: $0) } }

    /// The screen that leads with a generation later than this one; `nil` if none does.
    func leader(of file: Descriptor, above own: Int64 = 0) -> Attached? {
        var last: Attached?
        for attempt in 0..<5 {
            if attempt > 0 { usleep(500) }
            guard let generation = Self.generations(of: file).max(), generation > own else {
                return own == 0 && Self.isTakenByEarlierVersion(file) ? earlierVersion(file) : nil
            }
            let found = living(in: file).first { $0.generation == generation }
            if let found { return found }
            last = Attached(index: -1, holder: .unknown, generation: generation)
        }
        return last
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

    private static func isTakenByEarlierVersion(_ file: Descriptor) -> Bool {
        file.otherLock(on: .wholeFile) == .wholeFile
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
            return SlotText(bytes[start..<end], ofEntry: index, known: known)?.attached(at: index)
        }
    }

    /// A process of an earlier version appears with the text of a dead one until it has written its
    /// own: if the text's process is not alive, reading is repeated for a moment.
    private func earlierVersion(_ file: Descriptor) -> Attached? {
        var last = Attached(holder: .unknown, generation: 0)
        for attempt in 0..<5 {
            guard Self.isTakenByEarlierVersion(file) else { return nil }
            last = entries(of: file).first ?? last
            let isSure = last.holder.isThere || attempt > 0
            let pid = last.holder.pid
            if isSure, pid > 0, kill(pid, 0) == 0 || errno == EPERM { break }
            usleep(500)
        }
        // It may be in another pid namespace: pid_namespaces(7).
        last.generation = 0
        return last
    }
}
