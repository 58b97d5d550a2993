import AlertCore
import TextFormats

/// Shows alerts through a program of your own.
///
/// The program is started once for each alert. It reads the alert from its standard input as one
/// line of JSON, the same that `alertq show --json` prints, and prints the id of the chosen button:
///
/// | the program | meaning |
/// |---|---|
/// | prints a button's id and exits with code 0 | that button was chosen |
/// | prints an object such as `{"button":"yes","values":{"name":"nas"},"note":"why"}` on one line and exits with code 0 | that button was chosen, with these values of the fields and this note |
/// | exits without printing anything | later: the alert comes again after its snooze time |
/// | gets SIGTERM | the alert was resolved elsewhere: clear the screen and exit within a second |
/// | prints a choice without a value for a field that is required, or has an initial value | it failed, unless the button cancels |
/// | does anything else, such as dying from a signal or failing within half a second | it failed |
///
/// A byte order mark before the line, and a carriage return after it, as programs of Windows write
/// them, are not part of it.
///
/// The alert counts as presented once the program has run for half a second or has printed a
/// choice. A program that fails is started again, after 1 s and after 2 s. After the third failure
/// the alert is left to other presenters, and this one pauses: for 1 s, then longer after each
/// further failure, up to a minute. A program that keeps running after it has printed its line is
/// ended; its choice counts at most two seconds after the line. The program runs in a process group
/// of its own, which is killed when the program ends or when this process dies, however that
/// happens, so that no process is left running. Its standard error is logged when it fails.
///
/// ```swift
/// let menu = try CommandPresenter("/usr/local/bin/alert-menu")
/// let manager = try await AlertManager(path: path, presenters: [menu])
/// ```
public struct CommandPresenter: AlertPresenter {
    /// `command:` followed by the program.
    public let name: String
    private let program: String
    private let usesTerminal: Bool
    private let show: ProgramShow

    /// Finds a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name that is looked up in `$PATH`.
    ///   - usesTerminal: Whether the program gets the terminal of this process, if there is one;
    ///     at most one presenter may use it.
    ///   - log: Receives one line for each failure; writes to the standard error by default.
    /// - Throws: ``ProgramError/notFound(program:)``.
    public init(
        _ program: String, usesTerminal: Bool = false,
        log: @escaping @Sendable (String) -> Void = StandardLog.write
    ) throws(ProgramError) {
        try self.init(
            program, usesTerminal: usesTerminal, pauses: ProgramShow.pauses, log: log)
    }

    init(
        _ program: String, usesTerminal: Bool, pauses: Backoff,
        log: @escaping @Sendable (String) -> Void
    ) throws(ProgramError) {
        guard ProgramSearch.path(of: program) != nil else {
            throw .notFound(program: program)
        }
        let name = "command:" + program
        self.name = name
        self.program = program
        self.usesTerminal = usesTerminal
        show = ProgramShow(name: name, pauses: pauses, log: log)
    }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: `CancellationError` when its task is cancelled; ``ProgramError`` when the program
    ///   fails three times.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        let alert = presentation.alert
        return try await show.present(
            presentation,
            through: .init(
                words: [program], input: try AlertJSON.line(presentation.record) + "\n",
                usesTerminal: usesTerminal,
                choice: { [show] reply, code in
                    guard code == 0 else { return nil }
                    do throws(AlertError) {
                        return try Self.choice(reply, of: alert)
                    } catch {
                        show.log("alert \(presentation.record.id): \(error)")
                        return nil
                    }
                }, closed: { _ in .close }))
    }

    /// The choice that a reply stands for: a button's id, or an object of JSON.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, which says what is wrong with an object.
    private static func choice(
        _ line: String, of alert: Alert
    ) throws(AlertError) -> PresenterChoice? {
        guard let (index, input) = try parsed(line.withoutForeignMarks, of: alert) else {
            return nil
        }
        _ = try alert.completed(input, buttonAt: index)
        try check(input, of: alert, buttonAt: index)
        return .button(index, input)
    }

    /// The button and the values that a reply names; `nil` for one that names none.
    private static func parsed(
        _ reply: String, of alert: Alert
    ) throws(AlertError) -> (button: Int, input: Alert.Input)? {
        let index = alert.buttonIndex(id: reply)
        if index >= 0 { return (index, Alert.Input()) }
        guard reply.hasPrefix("{") else { return nil }
        let json: JSONValue
        do { json = try JSONValue(parsing: Array(reply.utf8)) } catch {
            throw .invalid("reply", "is not JSON: \(error)")
        }
        for (name, value) in json.members ?? [] {
            let isRight =
                switch (name, value) {
                case ("button", .string), ("values", .object), ("note", .string), ("note", .null):
                    true
                default: false
                }
            guard isRight else {
                throw .invalid("reply", "has “\(name)”; it may have button, values and note")
            }
        }
        guard let button = json["button"]?.string, alert.buttonIndex(id: button) >= 0 else {
            throw .invalid("reply", "has no “button” with the id of one")
        }
        let input = try Alert.Input(
            json: json["values"] ?? .object([]), note: json["note"]?.string, fields: alert.fields)
        return (alert.buttonIndex(id: button), input)
    }

    /// Checks that a choice has a value for each field with an initial one, which a program that has
    /// shown it knows: nobody approves what they have not seen.
    private static func check(
        _ input: Alert.Input, of alert: Alert, buttonAt index: Int
    ) throws(AlertError) {
        guard alert.buttons[index].role != .cancel else { return }
        let unseen = alert.fields.first { $0.initialValue != nil && input.values[$0.id] == nil }
        guard let unseen else { return }
        throw .invalid(
            "reply",
            "has no value of “\(unseen.id)”, which has an initial one: values that a program has "
                + "shown are part of its reply")
    }

    /// Logs that a choice could not be stored; the alert comes again.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        show.log("alert \(presentation.record.id): the answer was not stored: \(error)")
    }
}
