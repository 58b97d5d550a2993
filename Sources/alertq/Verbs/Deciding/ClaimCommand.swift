import AlertQueue
import FoundationEssentials
import TextFormats

/// `alertq claim ID…`: says who deals with alerts.
struct ClaimCommand: ChangingCommand {
    static let name = "claim"
    static let abstract = "Say that you deal with alerts, without answering them"
    static let operands: [Operand<Self>] = [Operand(.alertID, each: \.alerts.ids)]
    static let options: [Option<Self>] =
        [
            Option(
                "for",
                .deadline.requiring(orElse: "has passed") { $0.distance(from: Date()) > .zero },
                \.end, help: "How long, or until when (default: 15 minutes)"),
            Option("release", \.releases, help: "Say that nobody deals with them any more"),
            Option("force", \.isForced, help: "Take over, or end, a claim of somebody else"),
            .utc,
        ] + byKey
    static let discussion = [
        """
        A claim tells other people that they need not deal with an alert. It answers nothing and \
        gives no right: whoever may answer still can. It lapses by itself, and ends with the \
        alert; claiming again sets a new end. If another account or person has claimed the alert, \
        the exit code is 16, and the message says who and until when. Root of that account's machine \
        may take the claim over; everybody else needs --force. The audit log has each claim and each \
        release.
        """,
        severalDiscussion, DateText.future,
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts()
    private var end: Alert.Deadline?
    private var releases = false
    private var isForced = false

    mutating func validate() throws {
        guard !releases || end == nil else {
            throw UsageError("--release and --for can't be combined; give one of them")
        }
        try alerts.check(for: queue)
    }

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context, noting: Self.claimed) { manager, id in
            releases
                ? try await manager.release(id, force: isForced)
                : try await manager.claim(id, until: end, force: isForced)
        }
    }

    private static func claimed(_ record: AlertRecord, in context: Context) -> String {
        guard let claim = record.claim else { return "nobody deals with alert \(record.id)" }
        return "alert \(record.id) is claimed by \(claim.by.principal.label) until "
            + LocalTime.text(claim.until, context.noteTime)
    }
}
