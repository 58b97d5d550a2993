/// A text and its name, as `--info` and `--set` take them.
struct NamedText: Sendable {
    let name: String
    let value: String
}

extension Argument where Value == NamedText {
    /// A name, “=” and a text, which may be empty and contain “=”.
    ///
    /// - Parameter form: What the help calls it, such as `K=V`.
    static func named(_ form: String, _ kind: ArgumentKind = .text) -> Argument {
        Argument(form, kind) { text throws(UsageError) in
            guard let (name, value) = text.split(atFirst: "="), !name.isEmpty else {
                throw UsageError("“\(text)” is not of the form \(form)")
            }
            return NamedText(name: name, value: value)
        }
    }
}
