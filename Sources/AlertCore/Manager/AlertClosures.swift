/// The closures of one alert, which die with this process.
struct AlertClosures: Sendable {
    let alert: Alert
    /// The record when it was asked.
    let asked: AlertRecord
    /// Code for the response, whichever button it has.
    let body: Body?

    typealias Body = @Sendable (Alert, Response) async throws -> Void

    var isEmpty: Bool { body == nil && alert.buttons.allSatisfy { $0.action == nil } }

    /// Runs the chosen button's action, and then the code for all responses.
    func run(for response: Response) async throws {
        guard response.runsHandlers else { return }
        if alert.buttons.indices.contains(response.buttonIndex) {
            try await alert.buttons[response.buttonIndex].action?()
        }
        try await body?(alert, response)
    }
}
