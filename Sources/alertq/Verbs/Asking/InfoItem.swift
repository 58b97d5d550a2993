/// A string that comes back with the response, and its name.
struct InfoItem: Sendable {
    let name: String
    let value: String
}

extension Argument where Value == InfoItem {
    static var infoItem: Argument {
        Argument("K=V") { text throws(UsageError) in
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw UsageError("“\(text)” is not of the form K=V")
            }
            return InfoItem(
                name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
        }
    }
}
