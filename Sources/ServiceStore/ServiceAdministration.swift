import AlertCore
import Linux

/// The administration of a queue that a service keeps, which is done where the service runs.
package struct ServiceAdministration: QueueAdministration {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Why a service is not asked for what belongs to files.
    package static let filesAlone = AlertError.invalid(
        "location",
        "is a service, which does nothing with the files of its queue: run the same command on the "
            + "service's machine, with the path of the queue")

    package var unknownLeader: LinuxProcess? { get async { nil } }

    package func isOwnFile(_ path: String) -> Bool { false }

    package nonisolated(nonsending) func findings() async -> [Finding] {
        do throws(AlertError) {
            let store = try await ServiceAlertStore.open(
                ServiceLocation(text), isReadOnly: true, patience: .seconds(5))
            defer { store.end() }
            return [
                Finding(
                    check: "service",
                    detail: "serves \(store.place), and knows this account as "
                        + store.principal.named.label)
            ]
        } catch {
            return [Finding(check: "database", failure: error)]
        }
    }

    package nonisolated(nonsending) func schema() async throws(AlertError) -> [Finding] { [] }

    package nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        throw Self.filesAlone
    }
}
