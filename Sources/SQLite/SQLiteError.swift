import CSQLite
import Glibc

/// A failure that SQLite reported.
///
/// It never contains bound values, only the SQL. See <https://sqlite.org/rescode.html>.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32
    /// SQLite's own message.
    package let message: String
    /// The statement that failed, or what was attempted instead.
    package let operation: String

    package init(code: Int32, message: String, operation: String) {
        self.code = code
        self.message = message
        self.operation = operation
    }

    init(_ connection: OpaquePointer?, operation: String) {
        guard let connection else {
            self.init(code: SQLITE_NOMEM, message: "out of memory", operation: operation)
            return
        }
        let number = errno
        let code = sqlite3_extended_errcode(connection)
        // SQLite knows a full disk from ENOSPC alone. For the one who writes, a quota that is used
        // up is the same; see write(2). Of a commit SQLite does not keep the number.
        guard code == Self.notWritten, number == EDQUOT else {
            self.init(
                code: code, message: String(cString: sqlite3_errmsg(connection)),
                operation: operation)
            return
        }
        self.init(
            code: SQLITE_FULL, message: String(cString: strerror(EDQUOT)), operation: operation)
    }

    /// The primary result code, the low byte of ``code``.
    package var primaryCode: Int32 { code & 0xff }

    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
    /// Whether there is no space on the disk, for the file or for its shared memory.
    package var isFull: Bool { primaryCode == SQLITE_FULL || code == Self.noSharedMemory }
    package var isIOError: Bool { primaryCode == SQLITE_IOERR && !isFull }
    package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
    /// Whether a file can't be created, opened or written where it is.
    package var isRefusedFile: Bool {
        isReadOnly || primaryCode == SQLITE_CANTOPEN || isFull || isIOError
    }
    package var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
    /// Whether the file is damaged, and not just what a virtual table has stored in it.
    package var isDamagedFile: Bool { isDamage && code != Self.damagedVirtualTable }
    package var isInterrupt: Bool { primaryCode == SQLITE_INTERRUPT }
    package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

    /// `SQLITE_CORRUPT_VTAB`, also a macro with an expression.
    private static let damagedVirtualTable = SQLITE_CORRUPT | (1 << 8)
    /// `SQLITE_IOERR_WRITE`, likewise.
    private static let notWritten = SQLITE_IOERR | (3 << 8)
    /// `SQLITE_IOERR_SHMSIZE`, a macro with an expression, which Swift does not import.
    private static let noSharedMemory = SQLITE_IOERR | (19 << 8)

    package var description: String { "\(message) (SQLite code \(code))" }
}
