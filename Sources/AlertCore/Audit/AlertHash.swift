/// A hash of an alert in the audit log: which parts of the alert it covers, and in which order.
///
/// It is the SHA-256 of netstrings: its name, then each part, as ``HashInput`` writes it.
struct AlertHash: Sendable {
    /// A part of an alert, or what is hashed along with it.
    private enum Part: Sendable {
        /// The salt's hexadecimal digits.
        case salt
        case source, key, style, title, message, defaultButton, handler
        /// From 0 to 3.
        case priority
        /// The number of presenters, and each one's name.
        case presenters
        /// The number of buttons, and each one's id, title and role.
        case buttons
        /// The fields' JSON, as ``FieldJSON`` writes it; absent if there are none.
        case fields
        /// The number of strings in `userInfo`, and each one's name and value, in the order of the
        /// names' UTF-8 bytes.
        case userInfo
        /// The default button, unless its id was erased with its label.
        case leftDefaultButton
        /// The number of buttons, and what an erasure leaves of each: its id and its role.
        case leftButtons
    }

    private let name: [UInt8]
    private let parts: [Part]

    /// The hash of everything that was asked.
    static let content = AlertHash(
        "alertq-content-1",
        .salt, .style, .title, .message, .defaultButton, .priority, .key, .handler, .presenters,
        .buttons, .fields, .userInfo)

    /// The hash of what an erasure leaves. It needs no salt: all of it stays readable.
    static let leaves = AlertHash(
        "alertq-leaves-1",
        .style, .leftDefaultButton, .priority, .key, .handler, .presenters, .leftButtons)

    /// The hash of what is compared when an alert's key is used again.
    static let key = AlertHash(
        "alertq-key-1",
        .salt, .source, .key, .style, .title, .message, .defaultButton, .buttons, .fields,
        .userInfo)

    private init(_ name: String, _ parts: Part...) {
        self.name = Array(name.utf8)
        self.parts = parts
    }

    /// The hash of an alert.
    ///
    /// - Parameters:
    ///   - left: What an erasure leaves of its buttons, if that is hashed.
    ///   - input: Memory to reuse.
    func of(
        _ alert: Alert, salt: [UInt8] = [], source: String = "", left: ErasedButtons? = nil,
        _ input: HashInput = HashInput()
    ) -> [UInt8] {
        input.begin(name)
        for part in parts {
            switch part {
            case .salt: input.append(hex: salt)
            case .source: input.append(source)
            case .key: input.append(alert.key)
            case .style: input.append(alert.style.rawValue)
            case .title: input.append(alert.title)
            case .message: input.append(alert.message)
            case .defaultButton: input.append(alert.defaultButton)
            case .handler: input.append(alert.handler)
            case .priority: input.append(Int64(alert.priority.rawValue))
            case .presenters: input.append(alert.presenters ?? [])
            case .buttons: input.append(alert.buttons)
            case .fields: input.append(alert.fieldsJSON)
            case .userInfo: input.append(alert.userInfo)
            case .leftDefaultButton: input.append(left?.defaultButton)
            case .leftButtons: input.append(left?.buttons ?? [])
            }
        }
        return input.hash
    }
}
