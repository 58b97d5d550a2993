/// What is wrong with a text that should be one JSON value.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    /// A sentence without its end, such as `a comma is missing`.
    let reason: String
    /// The byte at which that was found, counted from 0; `nil` for the text as a whole.
    let offset: Int?

    init(_ reason: String, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { reason + (offset.map { " at byte \($0)" } ?? "") }
}
