import AlertAgents
import AlertQueue

/// The options of every verb that an agent starts, which prints in the agent's own format.
struct AgentOptions: QueueLocationOptions {
    static let options = location

    var database: String?
    var isSystem = false
    @Required var queue: QueueChoice
    let isUTC = false
}

extension AgentContext {
    /// The process around a verb that an agent starts.
    init(_ context: Context, via verb: String, _ signals: SignalWatch, _ queue: QueueChoice) {
        @Sendable func open(_ source: String?) async throws -> AlertManager {
            try await QueueChoice.manager(path: queue.path, source: source, via: verb)
        }
        self.init(
            open: open,
            openExisting: { source in
                switch QueuePresence(path: queue.path) {
                case .absent, .noDirectory: return nil
                case .present, .closed: return try await open(source)
                }
            },
            hasReader: { (try? context.output.checkReader()) != nil },
            write: { try context.output.write($0) },
            note: { context.note("\(verb): \($0)") },
            now: context.now, ending: { signals.end }, endings: { signals.events })
    }
}
