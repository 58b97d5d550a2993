import TextFormats

extension Alert {
    /// One of the choices of an alert.
    public struct Button: Sendable, Equatable, ExpressibleByStringLiteral {
        /// The code that runs when the button is chosen, in the process that asked.
        ///
        /// It runs at least once, after the choice is on disk; it must be idempotent. If it throws,
        /// the response stays uncollected and can be taken by key or id, unless the alert names a
        /// handler, which still runs and collects it.
        public typealias Action = @Sendable () async throws -> Void

        /// The meaning of a button beyond its label; SwiftUI's names.
        public enum Role: String, Sendable, CaseIterable, Codable {
            /// It means "no", and is applied when the system cancels the alert.
            case cancel
            /// It destroys something; presenters never preselect it.
            case destructive
        }

        /// What programs call the button, 1 to 256 bytes, unique in its alert; defaults to the
        /// label. If several buttons have one label and no ids of their own, these become `OK`,
        /// `OK#2`, `OK#3` and so on when the alert is asked.
        public let id: String
        /// The label that a person reads, 1 to 256 bytes.
        public let title: String
        /// The button's meaning; `nil` for an ordinary button.
        public let role: Role?
        /// The code that the choice runs; it is lost when its process ends.
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

        /// Creates the button that means "no"; an alert has at most one.
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
    /// The list is noncopyable and borrowed by the closure, so the compiler does not let it escape:
    /// an alert can't change once it has been asked.
    public struct ButtonList: ~Copyable {
        private(set) var buttons: [Button] = []

        init() {}

        /// Adds a button after the existing ones; the action may be `nil`.
        public mutating func callAsFunction(
            _ title: String, id: String? = nil, role: Button.Role? = nil,
            _ action: Button.Action? = nil
        ) {
            buttons.append(Button(title, id: id, role: role, action: action))
        }
    }
}

extension Alert.Button {
    /// Whether the id was made from the label: it is the label, perhaps with `#` and a number.
    package var hasIDFromLabel: Bool {
        let (id, label) = (id.utf8, title.utf8)
        guard id.starts(with: label) else { return false }
        let rest = id.dropFirst(label.count)
        let digits = rest.dropFirst()
        return rest.isEmpty
            || (rest.first == UInt8(ascii: "#") && !digits.isEmpty
                && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    }
}

extension Alert {
    /// The alert as it is asked, with what UIAlertView had no rules for: the first line of the
    /// message is the title if that is blank, and buttons of one label get ids of their own.
    var filledIn: Alert {
        var alert = self
        if title.isBlank, let message {
            let text = message.drop { $0.isWhitespace }
            let end = text.firstIndex(where: \.isNewline) ?? text.endIndex
            let rest = String(text[end...].drop { $0.isNewline })
            alert.title = String(text[..<end])
            alert.message = rest.isBlank ? nil : rest
        }
        for (index, button) in buttons.enumerated() {
            let label = button.title
            let isRepeated = buttons[..<index].contains {
                $0.id.isIdentical(to: label) && $0.title.isIdentical(to: label)
            }
            guard isRepeated, button.id.isIdentical(to: label) else { continue }
            let number = (2...).first { alert.buttonIndex(id: "\(label)#\($0)") < 0 } ?? 2
            alert.buttons[index] = Button(
                label, id: "\(label)#\(number)", role: button.role, action: button.action)
        }
        return alert
    }

    /// The button with this id, or else the only one with this label, or else the only one whose id
    /// or label differs only in case or in the way its accents are written; `nil` if there is none.
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
