import AlertCore
import Synchronization

// The manager that a whole program shares.
extension AlertManager {
    /// The manager of the default database, opened by the first call and kept until it is closed;
    /// the next call then opens a new one.
    ///
    /// ```swift
    /// try await AlertManager.shared().show("Backup failed") { addButton in
    ///     addButton("Delete all", role: .destructive) { await deleteEverything() }
    ///     addButton("Skip", role: .cancel)
    /// }
    /// ```
    ///
    /// It only asks and listens, unless configured otherwise with
    /// ``configureShared(path:source:presenters:delegate:)``.
    ///
    /// - Throws: The errors of ``init(path:source:presenters:delegate:clock:)``; the next call
    ///   tries again.
    public static func shared() async throws(AlertError) -> AlertManager {
        while true {
            let opening = shared.withLock { $0.start() }
            let result = await opening.value
            shared.withLock { if $0.opening == opening { $0.result = result } }
            if case .success(let manager) = result, !manager.isClosed { return manager }
            shared.withLock { if $0.opening == opening { $0.opening = nil } }
            // The manager has been closed in the meantime, or could not be opened.
            if case .failure(let error) = result { throw error }
        }
    }

    /// Configures how ``shared()`` opens its manager; must be called before it.
    ///
    /// ```swift
    /// try AlertManager.configureShared(
    ///     source: "backup", presenters: [try TerminalPresenter()])
    /// ```
    ///
    /// - Parameters:
    ///   - path: The database file; `nil` as in ``init(path:source:presenters:delegate:clock:)``.
    ///   - source: The source of its alerts; `nil` means the program's name.
    ///   - presenters: The presenters that show alerts.
    ///   - delegate: An observer of this manager's screen, and of its own alerts on any screen;
    ///     held weakly.
    /// - Throws: ``AlertError/invalid(_:_:)`` if the shared manager is already open or being
    ///   opened: close it first. Invalid names are reported by ``shared()``.
    public static func configureShared(
        path: String? = nil, source: String? = nil, presenters: [any AlertPresenter] = [],
        delegate: (any AlertManagerDelegate)? = nil
    ) throws(AlertError) {
        let configuration = SharedConfiguration(
            path: path, source: source, presenters: presenters, delegate: delegate)
        let isDone = shared.withLock { shared in
            guard shared.opening == nil || shared.isOver else { return false }
            shared = Shared(configuration: configuration)
            return true
        }
        guard isDone else {
            throw .invalid(
                "shared manager", "is already in use: configure it before shared() is called")
        }
    }

    private static let shared = Mutex(Shared())
}

/// How the shared manager is opened.
private struct SharedConfiguration: Sendable {
    var path: String?
    var source: String?
    var presenters: [any AlertPresenter] = []
    weak var delegate: (any AlertManagerDelegate)?
}

/// The state of the shared manager, from its configuration on.
private struct Shared: Sendable {
    typealias Result = Swift.Result<AlertManager, AlertError>

    var configuration = SharedConfiguration()
    var opening: Task<Result, Never>?
    /// The result of opening it.
    var result: Result?

    /// Whether it was open and no longer is.
    var isOver: Bool {
        switch result {
        case .success(let manager): manager.isClosed
        case .failure: true
        case nil: false
        }
    }

    mutating func start() -> Task<Result, Never> {
        if let opening { return opening }
        result = nil
        let started = Task { [configuration] () -> Result in
            do throws(AlertError) {
                return .success(
                    try await AlertManager(
                        path: configuration.path, source: configuration.source,
                        presenters: configuration.presenters, delegate: configuration.delegate))
            } catch {
                return .failure(error)
            }
        }
        opening = started
        return started
    }
}
