import Synchronization

// Presenting, and the screens that present.
extension AlertManager {
    /// Starts showing alerts, together with all other screens of the queue.
    ///
    /// A manager that was opened with presenters is already doing so.
    ///
    /// ```swift
    /// let manager = try await AlertManager.shared()
    /// try await manager.startPresenting([try TerminalPresenter()])
    /// ```
    ///
    /// - Parameter presenters: The presenters that show alerts, all at once; they replace the ones
    ///   that the manager had.
    /// - Throws: ``AlertError/invalid(_:_:)`` if there are none, or a name is invalid or used
    ///   twice; ``AlertError/busy(_:)`` if 64 screens already show the queue;
    ///   ``AlertError/notPermitted(path:_:)`` and ``AlertError/storage(operation:_:)`` if the file
    ///   of the screens can't be used; ``AlertError/closed``.
    public func startPresenting(_ presenters: [any AlertPresenter]) async throws(AlertError) {
        guard !presenters.isEmpty else { throw .invalid("presenters", "are missing") }
        try Self.check(presenters)
        try await startPresenting(presenters, only: nil)
    }

    /// Attaches a screen and shows alerts on it, instead of what this manager shows already.
    ///
    /// - Parameters:
    ///   - only: The only alert to be shown; `nil` for all.
    ///   - keepsLog: Whether its process writes the events of all screens to the machine's log.
    /// - Throws: The errors of ``startPresenting(_:)``.
    package func startPresenting(
        _ presenters: [any AlertPresenter], only: Alert.ID?, keepsLog: Bool = false
    ) async throws(AlertError) {
        noteWaitInCallback()
        guard !isClosed else { throw .closed }
        isPresenting.store(true, ordering: .releasing)
        try await waitForScreen { call in
            screenParts.starts[call] = presenters
            return .start(
                Screen.Start(
                    call: call, presenters: presenters.map(\.name), only: only,
                    keepsLog: keepsLog))
        }
        follow(from: store.position.head)
    }

    /// Takes the current alert off this screen, detaches the screen, and returns when that is done.
    ///
    /// ```swift
    /// await manager.stopPresenting()
    /// ```
    ///
    /// An alert that was on the screen waits again, unless another screen shows it.
    public func stopPresenting() async {
        noteWaitInCallback()
        await endPresenting()
    }

    func endPresenting() async { try? await waitForScreen { .stop($0) } }

    /// Waits until there is nothing left to show.
    ///
    /// - Throws: ``AlertError/incompatible(path:_:)``, the reason why presenting has ended by
    ///   itself.
    package func presentedAll() async throws(AlertError) {
        noteWaitInCallback()
        try await waitForScreen(mayLeave: true) { .waitUntilIdle($0) }
        if let error = failure.error { throw error }
    }

    /// Waits until presenting ends because the queue is no longer the one that was opened, and
    /// throws that error; returns if the task is cancelled.
    package nonisolated func presentingFailed() async throws(AlertError) {
        try await failure.wait()
    }

    /// How many alerts come before this one on the attached screens, including the current one;
    /// counted up to ``countedBefore``.
    package nonisolated func alertsBefore(_ id: Alert.ID) async throws(AlertError) -> Int {
        let screens = await store.screens()
        let (presenters, own) = screens.query
        var before: Set<Alert.ID> = []
        if let current = screens.current { before.insert(current) }
        while !before.contains(id), before.count < Self.countedBefore {
            let query = ScreenQuery(for: presenters, own: own, except: before.sorted())
            guard let next = try await store.next(query).record?.id, next != id else { break }
            before.insert(next)
        }
        return before.contains(id) ? 0 : before.count
    }

    package static let countedBefore = 20

    /// Records that an alert is on a screen that is not attached.
    package nonisolated func noteAppearance(of record: AlertRecord, on presenter: String) {
        context.noteAppearance(of: record, on: [presenter])
    }

    /// The attached screens, in any process.
    package nonisolated func screens() async -> ScreenRoster { await store.screens() }
}

/// The reason why presenting has ended by itself, if it has.
final class PresentationFailure: Sendable {
    private let state = Mutex<AlertError?>(nil)
    private let hasFailed = ChangeSignal()

    var error: AlertError? {
        get { state.withLock { $0 } }
        set {
            state.withLock { $0 = newValue }
            hasFailed.change()
        }
    }

    /// Waits until presenting ends by itself, and throws the reason; returns if the task is
    /// cancelled.
    func wait() async throws(AlertError) {
        while !Task.isCancelled {
            let seen = hasFailed.count
            if let error { throw error }
            await hasFailed.wait(after: seen)
        }
    }
}
