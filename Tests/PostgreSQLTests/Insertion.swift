import PostgreSQL

/// How the insertion of one row into the table `things` has ended.
enum Insertion: Sendable, Equatable {
    case committed
    case refused(PostgreSQLError)
    case unknown(PostgreSQLError)

    init(into db: Connection) {
        self =
            switch db.commit([Statement("INSERT INTO things VALUES (1)")]) {
            case .committed: .committed
            case .refused(let error): .refused(error)
            case .unknown(let error): .unknown(error)
            }
    }
}
