import AlertCore
import Glibc
import Linux
import TextFormats

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
    private static let capacity = AttachedScreen.maximumCount
    /// The lock of generation 0 would be on this byte.
    private static let generationStart: Int64 = 1 << 40
    /// The highest generation: locks after it are not alertq's.
    private static let generationLimit: Int64 = 1 << 40

    let path: String
    let mode: mode_t

    /// Gives the file the length of one entry, so that it can be written on a full disk.
    func allocate() {
        let size = FileIdentity.size(of: path)
        guard size < Self.entryLength, let descriptor = try? Descriptor.open(path, mode: mode)
        else { return }
        // If there is no space, nothing can be done here; attaching a screen throws then.
        _ = posix_fallocate(descriptor.raw, 0, off_t(Self.entryLength))
    }

    /// Attaches a screen; `nil` if the file is deleted at this moment, so that others see another.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if there are already 64 screens,
    ///   ``AlertError/invalid(_:_:)`` if the names of the presenters are too long for an entry,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/storage(operation:_:)``.
    func attach(_ screen: AttachedScreen) throws(AlertError) -> HeldEntry? {
        guard let text = SlotEntry(of: screen, leading: 0).bytes else {
            throw .invalid("presenters", "have names that are too long together")
        }
        let file = try Descriptor.open(path, mode: mode)
        for index in 0..<Self.capacity where try file.lock(Self.range(ofEntry: index), of: path) {
            guard file.isStill(at: path) else { return nil }
            let entry = HeldEntry(file: file, index: index)
            errno = 0
            guard entry.write(text) else {
                if errno != 0 { throw SystemError.current("write", path) }
                throw .storage(operation: "write \(path)", "only a part could be written")
            }
            ring()
            return entry
        }
        throw .tooManyScreens
    }

    /// Makes the other screens read the file: they watch for the close of a writable descriptor
    /// (`IN_CLOSE_WRITE`).
    func ring() { _ = try? Descriptor.open(path, mode: mode) }

    /// The attached screens.
    func roster() -> ScreenRoster {
        Descriptor.openForReading(path).map { Self.roster(of: $0) } ?? ScreenRoster()
    }

    /// The attached screens, once a leader whose entry can't be read has had a moment to write it.
    nonisolated(nonsending) func settledRoster() async -> ScreenRoster {
        for _ in 0..<4 {
            let roster = roster()
            guard roster.leader == .unreadable else { return roster }
            try? await Task.sleep(for: .microseconds(500))
        }
        return roster()
    }

    /// The screens that others have attached; one leads only with a generation later than `own`.
    static func roster(of file: Descriptor, above own: Int64 = 0) -> ScreenRoster {
        let (leader, others) = others(in: file, above: own)
        let followers = others.map { other in
            var screen = other.screen
            // A screen that was overtaken without noticing is stopped: nobody can answer there.
            let isOvertaken = other.generation > 0 && other.generation < own
            if isOvertaken { screen.silence = .seconds((other.age ?? .zero).components.seconds) }
            return screen
        }
        return ScreenRoster(leader: leader?.screen, followers: followers)
    }

    /// The entries that others hold, and that of the leader among them.
    static func others(
        in file: Descriptor, above own: Int64 = 0
    ) -> (leader: SlotEntry?, followers: [SlotEntry]) {
        var followers = entries(of: file)
        let latest = latestGeneration(in: file, after: own)
        guard latest > own else { return (nil, followers) }
        let index = followers.firstIndex { $0.generation == latest }
        // Between taking the lead and writing its text, a screen is unknown.
        let leader = index.map { followers.remove(at: $0) }
        return (leader ?? SlotEntry(of: .unreadable, leading: latest), followers)
    }

    // MARK: - Locks

    static func range(ofEntry index: Int) -> LockRange {
        LockRange(start: Int64(index * entryLength), length: Int64(entryLength))
    }

    static func range(of generation: Int64) -> LockRange {
        LockRange(start: generationStart + generation, length: 1)
    }

    /// Whether others have attached a screen.
    static func hasOthers(_ file: Descriptor) -> Bool {
        file.otherLock(on: LockRange(start: 0, length: Int64(entryLength * capacity))) != nil
    }

    /// The latest generation that others hold after one; that one if they hold none.
    static func latestGeneration(in file: Descriptor, after own: Int64 = 0) -> Int64 {
        var latest = own
        // The kernel reports any one lock in a range: there may be later ones.
        for _ in 0...capacity where latest < generationLimit {
            let later = LockRange(
                start: generationStart + latest + 1, length: generationLimit - latest)
            guard let lock = file.otherLock(on: later), lock.length == 1 else { break }
            latest = lock.start - generationStart
        }
        return latest
    }

    // MARK: - Texts

    /// The entries whose locks others hold; the text of a dead screen may still be there.
    private static func entries(of file: Descriptor) -> [SlotEntry] {
        let length = entryLength * capacity
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            count = max(0, pread(file.raw, bytes.baseAddress, length, 0))
        }
        let starts = stride(from: 0, to: bytes.count, by: entryLength)
        return starts.enumerated().compactMap { index, start in
            guard file.otherLock(on: range(ofEntry: index)) != nil else { return nil }
            return SlotEntry(bytes[start..<min(start + entryLength, bytes.count)])
        }
    }
}

/// An entry that a screen of this process has locked.
struct HeldEntry {
    let file: Descriptor
    let index: Int

    /// Writes the whole entry; `false` if that fails, or there are no bytes for it.
    func write(_ bytes: [UInt8]?) -> Bool {
        guard let bytes else { return false }
        let offset = off_t(index * SlotFile.entryLength)
        return pwrite(file.raw, bytes, bytes.count, offset) == bytes.count
    }

    /// Empties and unlocks the entry.
    func release() {
        // The next screen in this place must not be taken for this one before it has written its
        // text.
        _ = write([UInt8](repeating: 0, count: SlotFile.entryLength))
        // A program that another thread starts has a copy of the descriptor for a moment, which
        // would keep the locks.
        file.unlock(.wholeFile)
    }
}

/// The text of a screen's entry: a line of JSON with its identity and what it shows, a line with
/// its last sign of life, and a line with the generation that it leads.
struct SlotEntry: Equatable {
    let screen: AttachedScreen
    /// 0 for a screen that does not lead.
    let generation: Int64
    /// How long ago it gave a sign of life; `nil` if that is unknown.
    var age: Duration?

    init(of screen: AttachedScreen, leading generation: Int64) {
        self.screen = screen
        self.generation = generation
    }

    /// Reads the bytes of an entry; `nil` if they are something else.
    init?(_ bytes: ArraySlice<UInt8>) {
        let lines = bytes.prefix { $0 != 0 }.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let line = lines.first, let text = try? JSONValue(parsing: Array(line)),
            var screen = AttachedScreen(text)
        else { return nil }
        let rest = lines.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        age = rest.first.flatMap(Heartbeat.age)
        screen.silence = age.flatMap {
            $0 >= Heartbeat.silence ? .seconds($0.components.seconds) : nil
        }
        self.screen = screen
        generation = rest.dropFirst().first.flatMap { Int64($0) } ?? 0
    }

    /// The bytes of an entry with a sign of life from now; `nil` if the screen's names leave no
    /// room.
    var bytes: [UInt8]? {
        guard let json = try? screen.text.text() else { return nil }
        let (sign, end) = (Heartbeat.line.utf8, "\n\(generation)\n".utf8)
        var bytes = Array(json.utf8) + "\n".utf8
        // If the names leave no room for a sign, there is none, and the screen counts as present.
        if bytes.count + sign.count + end.count <= SlotFile.entryLength { bytes += sign }
        bytes += end
        let room = SlotFile.entryLength - bytes.count
        return room < 0 ? nil : bytes + [UInt8](repeating: 0, count: room)
    }
}

// The first line of an entry. What is absent or seldom true is left out, to save room.
extension AttachedScreen {
    /// How many bytes of presenters' names fit into an entry.
    private static let presenterLimit = 400

    fileprivate var text: JSONValue {
        let names = Self.fitting(presenters)
        let numbers = [("alert", alert), ("current", current), ("only", only)]
        let words = [("user", principal.user), ("tty", tty), ("host", process.host)]
        let flags = [
            ("hasMorePresenters", names.count < presenters.count), ("hasDelegate", hasDelegate),
            ("writesLog", keepsLog), ("showsOtherQueue", isBusy),
        ]
        var members: [(key: String, value: JSONValue)] = [
            ("principal", .string(principal.text)), ("pid", .integer(Int64(process.pid))),
            ("presenters", .array(names.map(JSONValue.string))),
        ]
        for case (let name, let number?) in numbers { members.append((name, .integer(number))) }
        for case (let name, let word?) in words { members.append((name, .string(word))) }
        for case (let name, true) in flags { members.append((name, .bool(true))) }
        return .object(members)
    }

    /// The first of some names, as many as fit.
    private static func fitting(_ names: [String]) -> [String] {
        var length = 0
        return Array(
            names.prefix { name in
                // With the comma.
                length += ((try? JSONValue.string(name).text().utf8.count) ?? presenterLimit) + 1
                return length <= presenterLimit
            })
    }

    fileprivate init?(_ text: JSONValue) {
        guard
            let principal = text["principal"]?.string.flatMap({
                Principal(text: $0, user: text["user"]?.string)
            }), let pid = text["pid"]?.integer.flatMap(Int32.init(exactly:)),
            let host = text["host"]?.string, let names = text["presenters"]?.elements
        else { return nil }
        func flag(_ name: String) -> Bool {
            if case .bool(true)? = text[name] { true } else { false }
        }
        self.init(
            caller: Caller(
                principal, via: "", means: .process(ProcessIdentity(host: host, pid: pid)),
                tty: text["tty"]?.string),
            presenters: names.compactMap(\.string), only: text["only"]?.integer,
            hasDelegate: flag("hasDelegate"), keepsLog: flag("writesLog"))
        (alert, current) = (text["alert"]?.integer, text["current"]?.integer)
        hasMorePresenters = flag("hasMorePresenters")
        isBusy = flag("showsOtherQueue")
    }
}

extension AttachedScreen {
    /// A leader whose entry can't be read; it may show anything.
    static let unreadable: AttachedScreen = {
        var screen = AttachedScreen(
            caller: Caller(
                Account(uid: .max, name: "somebody"), via: "",
                process: ProcessIdentity(host: "", pid: 0)),
            presenters: [], hasDelegate: false)
        screen.hasMorePresenters = true
        return screen
    }()
}

/// A sign of life that a screen writes into the slot file once a second.
///
/// A lock proves that its holder has not died. But a stopped process keeps its locks, and shows
/// nothing to anyone.
enum Heartbeat {
    /// After this time without a sign, a screen is considered absent.
    static let silence = Duration.seconds(5)

    /// Milliseconds on a clock that stops while the machine, and the writer with it, is suspended;
    /// see clock_gettime(2), `CLOCK_MONOTONIC`.
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The line of this moment. It names the time namespace of the clock; the boot is that of the
    /// reader, because the writer still holds its lock.
    static var line: String { "\(milliseconds) \(SystemClock.namespace)" }

    /// How long ago a line was written; `nil` for one that can't be compared with this moment, such
    /// as that of a process in another time namespace.
    static func age(of line: String) -> Duration? {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let then = Int64(parts[0]), parts[1] == SystemClock.namespace
        else { return nil }
        return .milliseconds(milliseconds.subtractingBounded(then))
    }
}

extension Descriptor {
    /// Opens a file of a queue for reading and writing; a missing one is created with exactly
    /// `mode`, regardless of the umask.
    ///
    /// One that root creates next to another account's database, or in another account's directory
    /// that has no database yet, belongs to that account, which
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

    /// Takes a lock on a range of the file, which is at `path`; `false` if another one conflicts.
    func lock(_ range: LockRange, of path: String) throws(AlertError) -> Bool {
        try AlertError.onFile(path) { () throws(LinuxError) in
            try takeLock(on: range, of: path)
        }
    }

    /// - Parameter path: The database, or a file next to it.
    static func leave(_ file: Int32, toOwnerOf path: String) {
        var owner = stat()
        let ending = QueueFiles.endings.first(where: path.hasSuffix) ?? ""
        guard geteuid() == 0,
            (!ending.isEmpty && stat(String(path.dropLast(ending.count)), &owner) == 0)
                || stat(FilePath.directory(of: path), &owner) == 0,
            owner.st_uid != 0
        else { return }
        // If that fails, the file is root's, and its owner gets an error that says so.
        _ = fchown(file, owner.st_uid, owner.st_gid)
    }

    private static func refusal(of path: String) -> AlertError {
        .notPermitted(path: path, "it is a link or not a regular file, and is not touched")
    }
}
