/// The closures of one alert, which are lost when this process ends.
struct AlertClosures: Sendable {
    let alert: Alert
    /// The record from when it was asked.
    let asked: AlertRecord
    /// The code that runs for any response.
    let body: Body?

    typealias Body = @Sendable (Alert, Response) async throws -> Void

    var isEmpty: Bool { body == nil && alert.buttons.allSatisfy { $0.action == nil } }

    /// Runs the chosen button's action, then the code for any response.
    func run(for response: Response) async throws {
        guard response.runsHandlers else { return }
        if alert.buttons.indices.contains(response.buttonIndex) {
            try await alert.buttons[response.buttonIndex].action?()
        }
        try await body?(alert, response)
    }
}
