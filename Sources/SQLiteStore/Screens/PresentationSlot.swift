import AlertCore
import CLinux
import FoundationEssentials
import Glibc
import Linux
import Synchronization

/// The right to show alerts, which one process at a time holds.
///
/// It is an open-file-description lock (fcntl(2), `F_OFD_SETLK`), which the kernel frees when its
/// holder dies. The file tells who the holder is, and in a second line when it last gave a sign of
/// life; the text is believed only while the lock is held.
struct PresentationSlot: Sendable {
    /// The fixed length of the text, so that a full disk never stops its being written again.
    static let textLength = 1024
    let path: String
    let mode: mode_t

    /// Gives the file its full length, so that the text can be written on a full disk.
    func allocateText() {
        let size = FileIdentity(path: path)?.size ?? 0
        guard size < Self.textLength, let descriptor = try? Descriptor.open(path, mode: mode)
        else { return }
        // Without room there is nothing to be done here; taking the slot throws then.
        _ = posix_fallocate(descriptor.raw, 0, off_t(Self.textLength))
    }

    /// Tries to take the slot; `nil` if somebody else has it.
    func take(_ holder: SlotHolder) throws(AlertError) -> SlotHold? {
        // Opening for writing and closing again would wake everybody who waits: look first.
        guard !isHeld() else { return nil }
        let descriptor = try Descriptor.open(path, mode: mode)
        guard descriptor.tryLock(F_WRLCK) else {
            guard errno == EAGAIN || errno == EACCES else {
                throw SystemError.current("lock", path)
            }
            return nil
        }
        let hold = SlotHold(descriptor: descriptor, path: path, holder: holder)
        // Deleted between opening and locking: others see another file.
        return hold.show(nil, hasDelegate: holder.hasDelegate) ? hold : nil
    }

    /// Who holds the slot; `nil` if nobody does.
    ///
    /// Between taking the lock and writing its text, a new holder is seen with the text of one that
    /// died: a text without a living process is read again for a moment, and so is one that tells
    /// of a silence, which may be half written.
    func holder() -> SlotHolder? {
        guard let descriptor = Descriptor.openForReading(path) else { return nil }
        var last: SlotHolder? = .unknown
        for attempt in 0..<5 {
            guard descriptor.isLockedByOthers else { return nil }
            last = text(descriptor) ?? last
            let isSure = last?.isThere == true || attempt > 0
            if let last, isSure, last.pid > 0, kill(last.pid, 0) == 0 || errno == EPERM {
                return last
            }
            usleep(500)
        }
        // Of another pid namespace, perhaps: pid_namespaces(7).
        return last
    }

    private func text(_ descriptor: Descriptor) -> SlotHolder? {
        var bytes = [UInt8](repeating: 0, count: Self.textLength)
        let count = pread(descriptor.raw, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = bytes[..<count].prefix { $0 != 0 }.split(separator: UInt8(ascii: "\n"))
        guard let text = lines.first,
            var holder = try? JSONDecoder().decode(SlotHolder.self, from: Data(text))
        else { return nil }
        // A holder that gives no signs at all is of an earlier version.
        let sign = lines.dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
        holder.silence = sign.flatMap { Heartbeat(line: $0) }?.overdue()
        return holder
    }

    /// Whether anybody holds the slot.
    func isHeld() -> Bool {
        Descriptor.openForReading(path)?.isLockedByOthers ?? false
    }
}
