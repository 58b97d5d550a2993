/// One numbered step of the database schema.
///
/// A migration that has shipped is never edited; its mistakes are corrected by the next one.
package struct Migration: Sendable {
    /// The schema version after this step, from 1.
    package let version: Int
    /// The file's name without its number and ending.
    package let name: String
    /// The script, which runs in one transaction with its version stamp.
    package let sql: String

    private init(_ version: Int, _ name: String, _ bytes: [UInt8]) {
        self.version = version
        self.name = name
        sql = String(decoding: bytes, as: UTF8.self)
    }

    /// The SQL function that a connection must define before it can write the audit log of the
    /// newest schema; its argument is the schema version.
    ///
    /// A program of an earlier version may have the file open while it is migrated. It does not
    /// define this function, or defines it without an argument, so each of its writes fails with
    /// the function's name in the error.
    package static let versionGuard = "this_queue_needs_a_newer_alertq"

    /// The resulting schema: each object with its type, name and table, and with its statement
    /// unless SQLite creates it by itself. This is the file `schema.sql`, which a test writes.
    package static let schema: [UInt8] = PackageResources.schema_sql

    /// Every migration, oldest first.
    ///
    /// SwiftPM names the bytes after the file, with the first digit replaced by `_`:
    /// `0001_create_queue.sql` is `_001_create_queue_sql`.
    package static let all: [Migration] = [
        Migration(1, "create_queue", PackageResources._001_create_queue_sql),
        Migration(
            2, "index_history_by_kind", PackageResources._002_index_history_by_kind_sql),
        Migration(3, "search_and_erase", PackageResources._003_search_and_erase_sql),
        Migration(
            4, "check_without_tables", PackageResources._004_check_without_tables_sql),
        Migration(5, "check_answers", PackageResources._005_check_answers_sql),
        Migration(6, "take_turns", PackageResources._006_take_turns_sql),
    ]
}
