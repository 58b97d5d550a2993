import AlertQueue

/// Ends each alert of a queue as a test wants it, as a person would.
struct ScriptedEnds: Sendable {
    enum End: String, CaseIterable, Sendable {
        case yes, no, expire, never
    }

    private static let caller = Caller(via: "test")

    private let store: any AlertStore
    private let end: End
    /// Called with why an alert stays.
    private let onRefusal: @Sendable (AlertError) -> Void

    init(
        _ end: End, of store: any AlertStore,
        onRefusal: @escaping @Sendable (AlertError) -> Void
    ) {
        (self.end, self.store, self.onRefusal) = (end, store, onRefusal)
    }

    /// Ends what waits, and what comes, until the task is cancelled.
    func run() async throws(AlertError) {
        guard end != .never else { return }
        var position = store.position
        var seen: Set<Alert.ID> = []
        while !Task.isCancelled {
            let page = try await store.pending(limit: seen.count + 100)
                .filter { !seen.contains($0.id) }
            for record in page {
                seen.insert(record.id)
                await end(record)
            }
            guard page.isEmpty else { continue }
            position = try await store.news(after: position, of: .everybody).position
        }
    }

    /// One that somebody else ends first stays as it is.
    private func end(_ record: AlertRecord) async {
        let resolution: Resolution =
            switch end {
            case .expire: .expireUnattended
            default: .choose(button: button(of: record.alert), .person, input(for: record.alert))
            }
        do throws(AlertError) {
            _ = try await store.resolve(record.id, resolution, by: Self.caller)
        } catch .alreadyResolved, .late {
            // Somebody else was first.
        } catch {
            onRefusal(error)
        }
    }

    /// The button for a yes is the first one that doesn't cancel, unless one is called so, and the
    /// one for a no the cancel button.
    private func button(of alert: Alert) -> Int? {
        let buttons = alert.buttons
        if let named = buttons.firstIndex(where: { $0.id.isIdentical(to: end.rawValue) }) {
            return named
        }
        let cancels = buttons.firstIndex { $0.role == .cancel }
        let acts = buttons.firstIndex { $0.role != .cancel }
        return end == .yes ? acts ?? cancels : cancels ?? buttons.indices.last
    }

    /// Values for the fields that a person would have to fill in.
    private func input(for alert: Alert) -> Alert.Input {
        var input = Alert.Input()
        for field in alert.fields where field.isRequired && field.initialValue == nil {
            input.values[field.id] =
                switch field.kind {
                case .text: .text("test")
                case .integer(let range): .integer(range.lowerBound > 0 ? range.lowerBound : 0)
                case .number(let range): .number(range.contains(0) ? 0 : range.lowerBound)
                case .boolean: .boolean(end == .yes)
                case .choice(let options): .text(options.first?.id ?? "")
                case .choices(let options, let count):
                    .list(options.prefix(max(1, count.lowerBound)).map(\.id))
                }
        }
        return input
    }
}
