/// A way to refer to an alert.
package enum AlertReference: Sendable, Hashable, Codable {
    case id(Alert.ID)
    /// The alert that a source of a principal asked with a key.
    case key(String, source: String, of: Principal)

    /// The error that there is no such alert.
    package var notFound: AlertError {
        switch self {
        case .id(let id): .notFound(id)
        case .key(let key, _, _): .keyNotFound(key)
        }
    }
}
