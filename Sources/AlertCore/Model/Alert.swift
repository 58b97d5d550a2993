import TextFormats

/// A question or a notice for a person: what to show, what can be chosen, and for how long.
///
/// An alert is a value. It gets an ``ID`` when ``AlertManager`` has stored it; from then on an
/// ``AlertRecord`` describes it. The following limits are checked when it is shown:
///
/// | part | bound |
/// |---|---|
/// | title | 1 byte to 1 KiB |
/// | message | 64 KiB |
/// | buttons | 16, each label and id 1 to 256 bytes, ids unique, at most one `.cancel` |
/// | fields | 8, with 32 KiB as JSON; each label 1 to 256 bytes |
/// | `userInfo` | 16 KiB, keys and values together |
/// | source, key, handler, presenter names | 1 to 256 bytes |
public struct Alert: Sendable, Equatable {
    /// The number that a queue gives an alert; never used twice in one database.
    public typealias ID = Int64

    /// The question itself, in 1 byte to 1 KiB. If it is blank, the first line of the message takes
    /// its place when the alert is asked.
    public var title: String
    /// More text about it, of any number of lines, up to 64 KiB.
    public var message: String?
    /// Whether it is shown as an alert or as a list of actions.
    public var style: Style
    /// The buttons, at most 16, in the order in which they are shown. An alert without buttons
    /// dismisses itself.
    public var buttons: [Button]
    /// What it asks for beside the buttons, at most 8 fields, in the order in which they are shown.
    /// They require a button that is not the cancel button.
    public var fields: [Field]
    /// How soon it is shown compared with the other waiting alerts.
    public var priority: Priority
    /// When the question becomes irrelevant; `nil` means never.
    public var deadline: Deadline?
    /// The id of the button that is applied, *by policy*, when the deadline passes; it requires a
    /// ``deadline-swift.property``.
    public var defaultButton: String?
    /// How long an alert without buttons stays on the screen, more than zero and at most 100 years;
    /// `nil` means 2 seconds.
    public var dismissAfter: Duration?
    /// How long it stays away after a person closes it without answering, more than zero and at
    /// most 100 years; `nil` means 5 minutes.
    public var snooze: Duration?
    /// How long an answer may be used once it was given, more than zero and at most 100 years;
    /// `nil` means forever. It requires buttons.
    ///
    /// An approval that is used much later may be to a world that has changed: after this time it is
    /// stale (``Response/isStale``), ``AlertManager/ask(_:replacing:delegate:)`` throws
    /// ``AlertError/stale(_:validFor:)`` instead of returning it, and no handler runs for it. The
    /// answer of the cancel button never is: a no stays a no.
    public var validFor: Duration?
    /// The name of the asker, 1 to 256 bytes; `nil` means the manager's ``AlertManager/source``.
    public var source: String?
    /// An idempotency key, 1 to 256 bytes: asking again with the same key joins this alert or
    /// returns its response.
    ///
    /// It is unique for a user and a source, and kept permanently. The question must be the same
    /// each time: ``title``, ``message``, ``style-swift.property``, ``buttons``, ``fields``,
    /// ``defaultButton``, ``validFor`` and ``userInfo``. Other timers, priority and handlers are those of the first asker.
    public var key: String?
    /// The name, 1 to 256 bytes, of a handler registered with
    /// ``AlertManager/register(handler:_:)``.
    public var handler: String?
    /// The names of the presenters that may show it, 1 to 16; `nil` means all of them.
    public var presenters: [String]?
    /// Strings that come back with the response; names and values have at most 16 KiB in total.
    public var userInfo: [String: String]

    /// Creates an alert. Nothing is checked or stored until it is shown.
    ///
    /// ```swift
    /// let alert = Alert(
    ///     "Delete old snapshots?", message: "40 GB",
    ///     buttons: [.destructive("Delete", id: "rm"), .cancel("Keep")],
    ///     deadline: .after(.seconds(3600)), defaultButton: "Keep", key: "snapshots-47")
    /// let response = try await manager.ask(alert)
    /// print(response.outcome)
    /// ```
    public init(
        _ title: String, message: String? = nil, style: Style = .alert, buttons: [Button] = [],
        fields: [Field] = [], priority: Priority = .normal, deadline: Deadline? = nil,
        defaultButton: String? = nil, dismissAfter: Duration? = nil, snooze: Duration? = nil,
        validFor: Duration? = nil, source: String? = nil, key: String? = nil,
        handler: String? = nil,
        presenters: [String]? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.title = title
        self.message = message
        self.style = style
        self.buttons = buttons
        self.fields = fields
        self.priority = priority
        self.deadline = deadline
        self.defaultButton = defaultButton
        self.dismissAfter = dismissAfter
        self.snooze = snooze
        self.validFor = validFor
        self.source = source
        self.key = key
        self.handler = handler
        self.presenters = presenters
        self.userInfo = userInfo
    }

    /// Creates an action sheet: a destructive action first, then the others, cancel last.
    ///
    /// ```swift
    /// let sheet = Alert.sheet(
    ///     "snapshot-47", cancel: "Cancel", destructive: "Delete", others: ["Mount", "Copy"])
    /// let response = try await manager.ask(sheet)
    /// if response.buttonIndex == sheet.destructiveButtonIndex { await deleteEverything() }
    /// ```
    public static func sheet(
        _ title: String, message: String? = nil, cancel: String? = nil, destructive: String? = nil,
        others: [String] = []
    ) -> Alert {
        var buttons: [Button] = []
        if let destructive { buttons.append(.destructive(destructive)) }
        buttons += others.map { Button($0) }
        if let cancel { buttons.append(.cancel(cancel)) }
        return Alert(title, message: message, style: .actionSheet, buttons: buttons)
    }

    /// The index of the cancel button, or −1 if there is none.
    public var cancelButtonIndex: Int { index { $0.role == .cancel } }

    /// The index of the first destructive button, or −1 if there is none.
    public var destructiveButtonIndex: Int { index { $0.role == .destructive } }

    /// The index of the first button that is neither the cancel button nor destructive, or −1 if
    /// there is none.
    public var firstOtherButtonIndex: Int { index { $0.role == nil } }

    /// The index of the button with an id, or −1 if there is none.
    ///
    /// Ids are compared by their bytes.
    public func buttonIndex(id: String) -> Int { index { $0.id.isIdentical(to: id) } }

    private func index(where matches: (Button) -> Bool) -> Int {
        buttons.firstIndex(where: matches) ?? -1
    }
}

extension Alert {
    /// The style in which an alert is shown; UIKit's names.
    public enum Style: String, Sendable, CaseIterable {
        /// A question with its buttons side by side.
        case alert
        /// A list of actions for something, one below the other.
        case actionSheet
    }

    /// How urgent an alert is. No priority interrupts an alert that is on the screen.
    ///
    /// An alert that has waited for an hour counts as one priority higher, and after two hours as
    /// two, so that more urgent ones can't keep it waiting forever.
    public enum Priority: Int, Sendable, CaseIterable, Comparable {
        /// Shown after all others.
        case low
        /// Shown in the order in which they were asked.
        case normal
        /// Shown before normal alerts.
        case high
        /// Shown next.
        case critical

        /// Whether the left one is less urgent.
        public static func < (left: Priority, right: Priority) -> Bool {
            left.rawValue < right.rawValue
        }
    }
}
