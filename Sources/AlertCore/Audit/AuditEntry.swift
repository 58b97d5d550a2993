import Glibc
import TextFormats

/// One link of the audit log's chain: an event, and the proof of its position.
///
/// The hash of what it says is the SHA-256 of these values as netstrings, in this order:
/// `alertq-entry-1`, sequence, time in milliseconds since 1970, event, alert id, source, outcome,
/// button index, button role, resolved by, principal, user, login uid, session, via, tty, ssh, means,
/// host, boot, pid, content, detail. The hash of the entry is that of `alertq-audit-1`, the hash of
/// the entry before, the alert id, and the hash of what it says: so the chain can be shown without
/// what others' entries say. The first entry's `previous` is 32 zero bytes.
///
/// Sources: SHA-256 is FIPS 180-4, netstrings are <https://cr.yp.to/proto/netstrings.txt>;
/// <doc:AuditChain> explains both with an example.
public struct AuditEntry: Sendable, Codable {
    /// What happened, to which alert, by whom.
    public package(set) var event: AlertEvent
    /// The chosen button's role, if it had one.
    public let buttonRole: Alert.Button.Role?
    /// Who did it, as the log has that and as the hash covers it: ``AlertEvent/responder`` names the
    /// machine of an account as this process sees it.
    package let principal: String
    /// The account that logged in; see pam_loginuid(8).
    public let loginUID: UInt32?
    /// The kernel's audit session of that login; see `/proc/[pid]/sessionid` in proc(5).
    public let session: UInt32?
    /// The boot of the machine, and the time namespace, in which it happened; see
    /// ``ClockReading/boot``.
    public let boot: String
    /// A salted SHA-256 of what was asked, shown, snoozed or answered, 32 bytes; `nil` for other
    /// events. <doc:AuditChain> specifies its bytes.
    public let content: [UInt8]?
    /// Further details of the event, as a JSON object: the deadline of a question, the end of a
    /// snooze or a claim, the reason why an alert left the screen. <doc:AuditChain> has its members.
    public let detail: String?
    /// The hash of the previous entry, 32 bytes.
    public let previous: [UInt8]
    /// The hash of this entry as it is stored, 32 bytes.
    public package(set) var hash: [UInt8] {
        get { event.hash }
        set { event.hash = newValue }
    }
    /// The alert's title, while it has not been erased.
    public var title: String? { event.title }
    /// The id of the chosen button, while it has not been erased.
    package var button: String?
    /// The label of the chosen button, while it has not been erased.
    package var label: String?
    /// The note of a response, or the reason of a withdrawal, while it has not been erased.
    package var note: String?

    package init(
        event: AlertEvent, buttonRole: Alert.Button.Role?, loginUID: UInt32?, session: UInt32?,
        boot: String, content: [UInt8]?, detail: String?, previous: [UInt8], hash: [UInt8] = []
    ) {
        self.event = event
        self.buttonRole = buttonRole
        principal = event.responder.principal.text
        self.loginUID = loginUID
        self.session = session
        self.boot = boot
        self.content = content
        self.detail = detail
        self.previous = previous
        self.event.hash = hash
    }

    /// Names the host of the account that did it as a process sees it.
    package mutating func nameHosts(_ shown: (Principal) -> Principal) {
        event.responder.principal = shown(event.responder.principal)
    }

    /// What the hash should be.
    package var computedHash: [UInt8] { hash(with: HashInput()) }

    private static let chainName = Array("alertq-audit-1".utf8)
    private static let entryName = Array("alertq-entry-1".utf8)

    /// What the hash should be, computed in existing memory.
    package func hash(with canonical: HashInput) -> [UInt8] {
        Self.hash(
            after: previous, about: event.alertID, of: ownHash(with: canonical), canonical)
    }

    /// The hash of an entry.
    ///
    /// - Parameters:
    ///   - previous: The hash of the entry before.
    ///   - alert: The alert that it is about.
    ///   - own: The hash of what the entry says.
    package static func hash(
        after previous: [UInt8], about alert: Alert.ID?, of own: [UInt8],
        _ canonical: HashInput = HashInput()
    ) -> [UInt8] {
        canonical.begin(chainName)
        canonical.append(hex: previous)
        canonical.append(alert)
        canonical.append(hex: own)
        return canonical.hash
    }

    /// The hash of what it says by itself, without its place in the chain.
    package func ownHash(with canonical: HashInput = HashInput()) -> [UInt8] {
        canonical.begin(Self.entryName)
        let by = event.responder
        canonical.append(event.sequence)
        canonical.append(Timestamp.milliseconds(event.at))
        canonical.append(event.kind.rawValue)
        canonical.append(event.alertID)
        canonical.append(event.source)
        canonical.append(event.outcome?.rawValue)
        canonical.append(event.buttonIndex.map(Int64.init))
        canonical.append(buttonRole?.rawValue)
        canonical.append(event.by?.rawValue)
        canonical.append(principal)
        canonical.append(by.principal.user)
        canonical.append(loginUID.map(Int64.init))
        canonical.append(session.map(Int64.init))
        canonical.append(by.via)
        canonical.append(by.tty)
        canonical.append(by.ssh)
        canonical.append(by.means.text)
        canonical.append(by.process?.host)
        canonical.append(boot)
        canonical.append((by.process?.pid).map(Int64.init))
        canonical.append(hex: content)
        canonical.append(detail)
        return canonical.hash
    }

    /// Makes sure that the hash matches the entry's contents.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the entry was changed.
    package func checkHash() throws(AlertError) {
        guard computedHash == hash else {
            throw .inconsistent(event.alertID, "entry \(event.sequence) was changed")
        }
    }

    /// Makes sure that the entry continues the previous one.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if an entry is missing or was replaced.
    package func checkLink(after last: AuditHead) throws(AlertError) {
        guard last.sequence < .max, event.sequence == last.sequence + 1, previous == last.hash
        else {
            throw .inconsistent(
                event.alertID,
                "entry \(event.sequence) does not continue entry \(last.sequence)")
        }
    }

    /// Who did it, as a store stamps it.
    package var caller: Caller {
        var caller = event.responder
        (caller.loginUID, caller.session) = (loginUID, session)
        return caller
    }

    /// A salt for a hash: 16 random bytes from one system call; see arc4random_buf(3), which never
    /// fails.
    package static func makeSalt() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            arc4random_buf(start, 16)
            count = 16
        }
    }
}
