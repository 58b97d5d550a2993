import AlertQueue
import TextFormats

/// Completes command lines from the tables of options and from the contents of the queue.
///
/// A person is in the middle of a line: if anything goes wrong, there is just nothing to offer.
struct Completer: Sendable {
    private let line: TypedLine

    /// How many alerts and responses are looked at.
    private static let limit = 200

    init(_ words: [String]) {
        line = TypedLine(words)
    }

    func offer() async -> Offer {
        guard line.verb != nil else { return .candidates(verbs()) }
        if let option = line.option { return await offer(option.kind) }
        if line.current.hasPrefix("-"), !line.isPastOptions { return .candidates(options()) }
        let kinds = line.operandKinds
        guard kinds.count > 1 else { return await offer(kinds.first ?? .text) }
        var all: [Candidate] = []
        for kind in kinds {
            if case .candidates(let found) = await offer(kind) { all += found }
        }
        return .candidates(all)
    }

    private func offer(_ kind: ArgumentKind) async -> Offer {
        switch kind {
        case .file: return .files(after: line.prefix)
        case .program: return .programs(after: line.prefix)
        case .presenter:
            let command = PresenterKind.commandPrefix
            guard !line.current.hasPrefix(command) else {
                return .programs(after: line.prefix + command)
            }
            return matching(PresenterKind.words.map { Candidate($0) })
        case .text, .newButton: return .candidates([])
        case .words(let words): return matching(words.map { Candidate($0) })
        case .verb: return .candidates(verbs(after: line.operands))
        case .addedButton: return matching(addedButtons())
        case .waitingAlert: return matching(await otherWaiting().map(Self.candidate))
        case .uncollectedAlert: return matching(await uncollected().map(Self.candidate))
        case .button: return matching(await buttons())
        case .chosenButton: return matching(await chosenButtons())
        case .fieldValue: return matching(await fieldValues())
        case .key: return matching(await keys())
        case .source: return matching(await sources())
        case .user:
            let known = await responders().map(\.principal).filter { $0.user != nil }
            return matching(known.map { Candidate($0.word) })
        case .via: return matching(await responders().map { Candidate($0.via) })
        }
    }

    /// The candidates that begin like the typed word, each as the whole word that it makes.
    private func matching(_ candidates: [Candidate]) -> Offer {
        var seen: Set<String> = []
        return .candidates(
            candidates.filter { candidate in
                // Texts that don't fit on one line are left out: a shell would insert their visible
                // form.
                candidate.text.hasPrefix(line.current)
                    && candidate.text == SafeText.line(candidate.text)
                    && seen.insert(candidate.text).inserted
            }.map { Candidate(line.prefix + $0.text, SafeText.line($0.about)) })
    }
}

// MARK: - From the command

extension Completer {
    /// Verbs, a word at a time: `audit`, then `list`.
    private func verbs(after words: [String]? = nil) -> [Candidate] {
        let before = words ?? line.beginning
        let start = before.map { $0 + " " }.joined()
        var found: [Candidate] = []
        for verb in Verbs.all where verb.name.hasPrefix(start + line.current) {
            let rest = verb.name.dropFirst(start.count)
            let word = String(rest.prefix { $0 != " " })
            let about = word.count < rest.count ? "More verbs" : verb.abstract
            if found.last?.text != word { found.append(Candidate(word, about)) }
        }
        if before.isEmpty, words == nil, line.current.hasPrefix("-") {
            found += ["--help", "--version"].filter { $0.hasPrefix(line.current) }
                .map { Candidate($0) }
        }
        return found
    }

    /// Options that may still be given.
    private func options() -> [Candidate] {
        line.options.filter { option in
            "--\(option.name)".hasPrefix(line.current)
                && (option.isRepeatable || !line.has(option))
        }.map { Candidate("--\($0.name)", $0.help) }
    }

    private func addedButtons() -> [Candidate] {
        line.occurrences.filter { $0.option.kind == .newButton }.map { occurrence in
            let button = ButtonText.parse(occurrence.value ?? "", role: nil)
            return Candidate(button.id, button.title)
        }
    }
}

// MARK: - From the queue

extension Completer {
    private static func candidate(_ record: AlertRecord) -> Candidate {
        Candidate("\(record.id)", "\(record.alert.title) (\(record.source.name))")
    }

    private func waiting() async -> [AlertRecord] {
        await reading { manager in try await manager.pending(limit: Self.limit) } ?? []
    }

    /// The waiting alerts that the line has not named yet; none if it has named something else.
    private func otherWaiting() async -> [AlertRecord] {
        guard line.option == nil else { return await waiting() }
        let named = line.operands.compactMap { Alert.ID($0) }
        guard named.count == line.operands.count else { return [] }
        return await waiting().filter { !named.contains($0.id) }
    }

    /// The buttons of the alert that was named last, by its id or by its key.
    private func buttons() async -> [Candidate] {
        let word = line.operands.last
        guard word == nil || word.flatMap(Alert.ID.init) != nil else { return [] }
        return await namedAlert()?.buttons.map { Candidate($0.id, $0.title) } ?? []
    }

    /// The alert with the last id among the operands, or with the key.
    private func namedAlert() async -> Alert? {
        if let id = line.operands.lazy.compactMap({ Alert.ID($0) }).last {
            return await reading { manager in try await manager.record(id).alert }
        }
        let key = line.occurrences.last { $0.option.kind == .key }?.value
        guard let key else { return nil }
        return await uncollected().last { $0.alert.key == key }?.alert
    }

    private func chosenButtons() async -> [Candidate] {
        await recent().compactMap { $0.response?.button }.map { Candidate($0.id, $0.title) }
    }

    /// The fields that have no value yet or, after “=”, the values that can be listed.
    private func fieldValues() async -> [Candidate] {
        let given = line.occurrences.filter { $0.option.kind == .fieldValue }.compactMap(\.value)
        return await namedAlert()?.fields.flatMap { field -> [Candidate] in
            let start = field.id + "="
            if line.current.hasPrefix(start) {
                return field.listedValues.map { Candidate(start + $0.id, $0.title) }
            }
            let isGiven = given.contains { $0.hasPrefix(start) }
            if case .choices = field.kind {} else if isGiven { return [] }
            return [Candidate(start, field.title)]
        } ?? []
    }

    /// Alerts that wait, and those whose response has not been collected.
    private func uncollected() async -> [AlertRecord] {
        let uncollected = await reading { manager in
            try await manager.history(HistoryFilter(uncollected: true), limit: Self.limit)
        }
        return await waiting() + (uncollected ?? [])
    }

    private func keys() async -> [Candidate] {
        await uncollected().compactMap { record in
            record.alert.key.map { Candidate($0, record.alert.title) }
        }
    }

    private func sources() async -> [Candidate] {
        (await waiting() + (await recent())).map { Candidate($0.source.name) }
    }

    /// The users who have decided on alerts lately.
    private func responders() async -> [Caller] {
        await recent().compactMap { $0.response?.responder }
    }

    private func recent() async -> [AlertRecord] {
        await reading { manager in try await manager.history(limit: Self.limit) } ?? []
    }

    private func reading<Result: Sendable>(
        _ body: (AlertManager) async throws -> Result
    ) async -> Result? {
        guard let queue = try? queue() else { return nil }
        return try? await queue.read(body)
    }

    /// The queue that the line names so far.
    private func queue() throws -> QueueChoice {
        var options = QueueOptions()
        for occurrence in line.occurrences {
            let option = QueueOptions.options.first { $0.syntax.name == occurrence.option.name }
            try option?.read(occurrence.value, into: &options)
        }
        try options.validate()
        return options.queue
    }
}

extension Alert.Field {
    /// The values that it can have, if they can be listed, and otherwise its initial one.
    fileprivate var listedValues: [Option] {
        switch kind {
        case .boolean: ["yes", "no"]
        case .choice(let options), .choices(let options, _): options
        case .text, .integer, .number: initialValue.map { [Option($0.text)] } ?? []
        }
    }
}
