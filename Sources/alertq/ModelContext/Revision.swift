/// A revision of the Model Context Protocol; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>.
enum Revision: String, Sendable, CaseIterable {
    case july2026 = "2026-07-28"
    case november2025 = "2025-11-25"
    case june2025 = "2025-06-18"

    /// Whether each request says who sends it and what that client can do, instead of one
    /// handshake for all.
    var isModern: Bool { self == .july2026 }

    /// What an `initialize` gets that asks for a revision which has none.
    static let newestWithHandshake = november2025
}
