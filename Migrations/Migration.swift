/// One numbered step of the database schema.
///
/// A migration is never edited; its mistakes are corrected by the next one.
package struct Migration: Sendable {
    /// The schema version after this step, from 1.
    package let version: Int
    /// The file's name without its number and ending.
    package let name: String
    /// The script, which runs in one transaction with its version stamp.
    package let sql: String

    package init(_ version: Int, _ name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    private init(_ version: Int, _ name: String, _ bytes: [UInt8]) {
        self.init(version, name, sql: String(decoding: bytes, as: UTF8.self))
    }

    /// The SQL function that a connection must define before it can write the audit log of the
    /// newest schema; its argument is the schema version.
    ///
    /// A program of an earlier version may have the file open while it is migrated. Its function
    /// does not know the newer schema, so each of its writes fails with the trigger's error.
    package static let versionGuard = "this_queue_needs_a_newer_alertq"

    /// The resulting schema: each object with its type, name and table, and with its statement
    /// unless SQLite creates it by itself. This is the file `SQLite/schema.sql`, which a test
    /// writes.
    package static let schema: [UInt8] = PackageResources.schema_sql

    /// Every migration, oldest first.
    ///
    /// SwiftPM names the bytes after the file, with the first digit replaced by `_`:
    /// `0001_create_queue.sql` is `_001_create_queue_sql`.
    package static let all: [Migration] = [
        Migration(1, "create_queue", PackageResources._001_create_queue_sql)
    ]

    /// What keeps the promises of the resulting schema in PostgreSQL: the file
    /// `PostgreSQL/schema.jsonl`, which a test writes.
    package static let postgreSQLSchema: [UInt8] = PackageResources.schema_jsonl

    /// Every migration of a PostgreSQL database, oldest first. Tables with a number before the first
    /// are those of earlier versions of alertq, with another form.
    package static let postgreSQL: [Migration] = [
        Migration(2, "create_queues", PackageResources._002_create_queues_sql)
    ]
}
