import CPostgreSQL
import Glibc
import Linux

/// libpq, which is loaded when the first connection is made.
final class LibPQ: Sendable {
    /// Its functions, by their names in C.
    let pq: cpostgresql

    private init(_ functions: cpostgresql) { pq = functions }

    private static let loaded: Result<LibPQ, PostgreSQLError> =
        SystemLibrary.load("libpq.so.5", package: "libpq5", cpostgresql_find)
        .map(LibPQ.init).mapError { PostgreSQLError(.noLibrary($0), "load libpq") }

    /// The library, or the error that it can't be loaded.
    static func load() throws(PostgreSQLError) -> LibPQ { try loaded.get() }

    /// Begins to connect; `nil` if there is no memory. See
    /// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PQCONNECTSTARTPARAMS>.
    func start(_ parameters: [String: String]) -> OpaquePointer? {
        let keywords = parameters.keys.map { strdup($0) }
        let values = parameters.values.map { strdup($0) }
        defer { for copy in keywords + values { free(copy) } }
        return pq.PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil],
            0)
    }
}
