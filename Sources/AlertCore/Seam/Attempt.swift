/// What has become of a change that an alert's deadline may prevent.
package enum Attempt<Result: Sendable>: Sendable {
    case done(Result)
    /// It came too late; but since it was a write, the expiry has been stored.
    case late(AlertRecord)

    /// - Throws: ``AlertError/late(_:)``.
    package func result() throws(AlertError) -> Result {
        switch self {
        case .done(let result): return result
        case .late(let record):
            guard let response = record.response else { throw .notFound(record.id) }
            throw .late(response)
        }
    }
}
