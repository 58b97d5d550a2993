import CSQLite

/// The first 100 bytes of a database file; see
/// <https://sqlite.org/fileformat2.html#the_database_header>.
package struct DatabaseHeader: Equatable, Sendable {
    package static let byteCount = 100
    private let bytes: [UInt8]

    /// - Returns: `nil` unless the bytes are such a header.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Array("SQLite format 3\0".utf8))
        else { return nil }
        self.bytes = bytes
    }

    /// The size of a page in bytes, 512 to 65,536.
    package var pageSize: Int64 {
        let size = number(at: 16) >> 16
        return size == 1 ? 65_536 : Int64(size)
    }

    /// Whether changes go to a write-ahead log first.
    package var hasWAL: Bool { bytes[18] == 2 }

    /// A number that grows whenever this header is written.
    package var changeCounter: UInt32 { number(at: 24) }

    /// The size of the file in bytes, once its log has been copied into it; `nil` if an old version
    /// of SQLite has written it without noting that.
    package var fileSize: Int64? {
        let pages = number(at: 28)
        return pages > 0 && number(at: 92) == changeCounter ? Int64(pages) * pageSize : nil
    }

    /// See <https://sqlite.org/pragma.html#pragma_user_version>.
    package var userVersion: Int32 { Int32(bitPattern: number(at: 60)) }

    /// See <https://sqlite.org/pragma.html#pragma_application_id>.
    package var applicationID: UInt32 { number(at: 68) }

    private func number(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension Database {
    /// The header as it is in the file now, whatever is in the cache and in the log; `nil` if the
    /// file does not begin with one.
    package func headerInFile() throws(SQLiteError) -> DatabaseHeader? {
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
        do {
            try file().read(&bytes, at: 0)
        } catch let error where error.code == Self.shortRead {
            return nil
        }
        return DatabaseHeader(bytes)
    }

    /// `SQLITE_IOERR_SHORT_READ`, a macro with an expression, which Swift does not import.
    private static let shortRead = SQLITE_IOERR | (2 << 8)

    func file() throws(SQLiteError) -> RawFile {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(
            connection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods else {
            throw SQLiteError(connection, operation: "find the database's file")
        }
        return RawFile(file: file, methods: methods.pointee)
    }
}

/// The database's file as SQLite has it open: another descriptor would lose SQLite's locks.
///
/// Wraps <https://sqlite.org/c3ref/io_methods.html>.
struct RawFile {
    let file: UnsafeMutablePointer<sqlite3_file>
    let methods: sqlite3_io_methods

    func read(_ bytes: inout [UInt8], at offset: Int) throws(SQLiteError) {
        let count = Int32(bytes.count)
        let code = bytes.withUnsafeMutableBytes {
            methods.xRead(file, $0.baseAddress, count, Int64(offset))
        }
        guard code == SQLITE_OK else {
            throw SQLiteError(
                code: code, message: String(cString: sqlite3_errstr(code)),
                operation: "read the database's file")
        }
    }
}
