import AlertQueue
import Glibc
import Linux

/// A file that holds the entry of the audit log after which to continue, as `audit head` prints it.
///
/// It is locked while it is open, so that two processes never do the same work.
struct CursorFile: Sendable {
    let path: String
    private let file: Descriptor

    /// Opens the file, or creates it with the beginning of the log: an empty one has lost what it
    /// held.
    ///
    /// - Throws: ``CommandError`` if that fails, or another process uses the file.
    init(path: String) throws(CommandError) {
        self.path = path
        var isNew = false
        do {
            file = try Descriptor.openOrCreate(path, mode: 0o600) { _ in isNew = true }
        } catch {
            throw CommandError(.inputOutput, "\(error)")
        }
        guard file.isPlainFile else {
            throw CommandError(.inputOutput, "\(path) is not a regular file with one name")
        }
        let isFree: Bool
        do {
            isFree = try file.takeLock(of: path)
        } catch {
            throw CommandError(.inputOutput, "\(error)")
        }
        guard isFree else {
            throw CommandError(.busy, "another process uses the cursor file \(path)")
        }
        guard isNew else { return }
        do throws(CommandError) {
            try store(.start)
        } catch {
            // Empty, it would look as if it had lost what it held.
            unlink(path)
            throw error
        }
    }

    /// What was stored last; `nil` if nothing was.
    func head() throws(CommandError) -> AuditHead? {
        // More than any cursor has.
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = pread(file.raw, &buffer, buffer.count, 0)
        guard count >= 0 else { throw failure("read") }
        guard count > 0 else {
            throw CommandError(
                .badData,
                "\(path) is empty: how far it had come is lost; remove it to begin again")
        }
        let line = String(decoding: buffer[..<count], as: UTF8.self)
            .trimmingSuffix(while: \.isWhitespace)
        if line == AuditHead.start.text { return nil }
        guard let head = AuditHead(line) else {
            throw CommandError(.badData, "\(path) does not hold a cursor of the audit log")
        }
        return head
    }

    /// Stores an entry; it is on disk once this returns.
    ///
    /// It is written over the previous one, which needs no room on a full disk; all lines have one
    /// length, so that a power loss can't leave half of a longer one.
    func store(_ head: AuditHead) throws(CommandError) {
        lseek(file.raw, 0, SEEK_SET)
        let text = head.text
        let line = Array((text + String(repeating: " ", count: 100 - text.utf8.count) + "\n").utf8)
        guard file.write(line), ftruncate(file.raw, off_t(line.count)) == 0, fsync(file.raw) == 0
        else { throw failure("write") }
    }

    private func failure(_ action: String) -> CommandError {
        CommandError(.inputOutput, "can't \(action) \(path): \(String(cString: strerror(errno)))")
    }
}

extension String {
    /// The text without the characters at its end that meet a condition.
    func trimmingSuffix(while isDropped: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return String(rest)
    }
}
