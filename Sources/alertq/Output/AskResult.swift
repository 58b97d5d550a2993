import AlertQueue

/// What a response means to the shell: a word on stdout and an exit code.
package struct AskResult: Sendable, Hashable {
    /// The id of the button that was chosen, or applied by the caller's own default.
    package let button: String?
    package let code: ExitCode

    package init(_ response: Response) {
        var button: String?
        switch response.outcome {
        case .expired where response.buttonIndex < 0:
            code = .expired
        case .answered, .expired:
            // Once its texts have been erased, nothing tells a yes from a no any more.
            button = response.button?.id
            code =
                switch response.button {
                case nil: .notFound
                case let button?: button.role == .cancel ? .cancelButton : .done
                }
        case .dismissed: code = .dismissed
        case .withdrawn: code = .withdrawn
        case .cancelled: code = .cancelledBySystem
        }
        self.button = button
    }
}
