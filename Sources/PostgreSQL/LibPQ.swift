#if PostgreSQL
    import CPostgreSQL
    import Glibc

    /// libpq, which is loaded when the first connection is made; see dlopen(3).
    ///
    /// Linked with the program, it would be loaded by every verb, with the TLS and Kerberos libraries
    /// that it needs itself, which takes longer than the verb.
    final class LibPQ: Sendable {
        /// Its functions, by their names in C.
        let pq: cpostgresql

        private init(_ functions: cpostgresql) { pq = functions }

        private static let loaded: Result<LibPQ, PostgreSQLError> = {
            withUnsafeTemporaryAllocation(of: cpostgresql.self, capacity: 1) { functions in
                guard let functions = functions.baseAddress else {
                    return .failure(PostgreSQLError(.refused("no memory"), "load libpq"))
                }
                if let reason = cpostgresql_load(functions) {
                    let reason = String(cString: reason)
                    return .failure(PostgreSQLError(.refused(reason), "load libpq"))
                }
                return .success(LibPQ(functions.pointee))
            }
        }()

        /// The library, or the error that it is not installed.
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
#endif
