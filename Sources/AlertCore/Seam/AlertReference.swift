/// A way to refer to an alert.
package enum AlertReference: Sendable, Hashable, Codable {
    case id(Alert.ID)
    /// The alert that a source of an account asked with a key.
    case key(String, source: String, of: Account)
}
