extension Alert {
    /// One of the choices of an alert.
    public struct Button: Sendable, Equatable, ExpressibleByStringLiteral {
        /// The code that a choice runs, in the process that asked.
        ///
        /// It runs at least once, after the choice is on disk; it must be idempotent. If it throws,
        /// the response stays uncollected, and can be taken by key or id.
        public typealias Action = @Sendable () async throws -> Void

        /// What a button means, beyond its label; SwiftUI's names.
        public enum Role: String, Sendable, CaseIterable {
            /// It means "no", and stands for the alert when the system cancels it.
            case cancel
            /// It destroys something: presenters never preselect it.
            case destructive
        }

        /// What programs know the button by, 1 to 256 bytes, unique in its alert; the label unless
        /// given.
        public let id: String
        /// The label that a person reads, 1 to 256 bytes.
        public let title: String
        /// What the button means, if it is not an ordinary one.
        public let role: Role?
        /// The code that the choice runs; it dies with its process.
        public let action: Action?

        /// Whether two buttons have the same id, label and role; actions can't be compared.
        ///
        /// Texts are compared as Swift compares strings; the queue compares ids by their bytes.
        public static func == (left: Button, right: Button) -> Bool {
            left.id == right.id && left.title == right.title && left.role == right.role
        }

        /// Creates a button; `id` defaults to the label.
        public init(
            _ title: String, id: String? = nil, role: Role? = nil, action: Action? = nil
        ) {
            self.id = id ?? title
            self.title = title
            self.role = role
            self.action = action
        }

        /// Creates an ordinary button from its label.
        public init(stringLiteral title: String) {
            self.init(title)
        }

        /// Creates the button that means "no"; an alert has one at most.
        public static func cancel(
            _ title: String, id: String? = nil, action: Action? = nil
        ) -> Button {
            Button(title, id: id, role: .cancel, action: action)
        }

        /// Creates a button that destroys something.
        public static func destructive(
            _ title: String, id: String? = nil, action: Action? = nil
        ) -> Button {
            Button(title, id: id, role: .destructive, action: action)
        }
    }

    /// The buttons that a configuration closure adds, in the order in which it adds them.
    ///
    /// The list is noncopyable and lent to the closure, so that the compiler refuses to let it
    /// leave: an alert can't change once it has been asked.
    public struct ButtonList: ~Copyable {
        private(set) var buttons: [Button] = []

        init() {}

        /// Adds a button behind those that have been added; a `nil` action is fine.
        public mutating func callAsFunction(
            _ title: String, id: String? = nil, role: Button.Role? = nil,
            _ action: Button.Action? = nil
        ) {
            buttons.append(Button(title, id: id, role: role, action: action))
        }
    }
}

extension Alert {
    /// The button with an id, or else the only one with a label, or else the only one whose id or
    /// label differs in nothing but case or the way in which accents are written; `nil` if there is
    /// none.
    package func button(named name: String) -> Button? {
        if let button = buttons.first(where: { $0.id.isIdentical(to: name) }) { return button }
        let labelled = buttons.filter { $0.title.isIdentical(to: name) }
        guard labelled.isEmpty else { return labelled.count == 1 ? labelled[0] : nil }
        let folded = name.lowercased()
        let similar = buttons.filter {
            $0.id.lowercased() == folded || $0.title.lowercased() == folded
        }
        return similar.count == 1 ? similar[0] : nil
    }
}
