/// An enum whose cases are the buttons of a question; see ``AlertManager/ask(_:as:message:key:)``.
///
/// ```swift
/// enum Decision: String, AlertChoice {
///     case deploy, later
///     var title: String { self == .deploy ? "Deploy now" : "Not now" }
///     var role: Alert.Button.Role? { self == .later ? .cancel : nil }
/// }
/// ```
public protocol AlertChoice: CaseIterable, Sendable {
    /// What programs call the button; defaults to the case's name.
    var id: String { get }
    /// The label that a person reads; defaults to the case's name, capitalized.
    var title: String { get }
    /// The button's meaning; `nil` for an ordinary button.
    var role: Alert.Button.Role? { get }
}

extension AlertChoice {
    /// The case's name.
    public var id: String { String(describing: self) }
    /// The id, capitalized.
    public var title: String { id.prefix(1).uppercased() + id.dropFirst() }
    /// `nil`: an ordinary button.
    public var role: Alert.Button.Role? { nil }

    /// A button for each case, in the order of the cases.
    public static var buttons: [Alert.Button] {
        allCases.map { Alert.Button($0.title, id: $0.id, role: $0.role) }
    }
}
