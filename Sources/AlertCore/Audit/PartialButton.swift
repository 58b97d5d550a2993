/// A button whose label may have been erased, along with an id made from the label.
package struct PartialButton: Sendable, Codable {
    package var id: String?
    package var title: String?
    package var role: String?

    package init(id: String?, title: String?, role: String?) {
        self.id = id
        self.title = title
        self.role = role
    }
}
