import AlertQueue

/// What a response means to the shell: a word on stdout and an exit code.
struct AskResult: Sendable, Hashable {
    /// The id of the button that was chosen, or applied because nobody chose one in time.
    let button: String?
    let code: ExitCode

    init(_ response: Response) {
        code = ExitCode(response)
        button =
            switch code {
            case .done, .cancelButton: response.button?.id
            default: nil
            }
    }
}
