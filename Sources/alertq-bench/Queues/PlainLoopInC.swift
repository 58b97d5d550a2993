import CBaselines
import Migrations

/// What ``PlainLoop`` does, in C: the difference is what Swift costs.
final class PlainLoopInC {
    private let loop: OpaquePointer?

    /// Opens a file that a store has created.
    init(path: String) throws {
        var loop: OpaquePointer?
        let code = plain_loop_open(
            path, Migration.versionGuard, Int32(Migration.all.count), &loop)
        self.loop = loop
        try check(code)
    }

    deinit { plain_loop_close(loop) }

    /// Asks `count` times, each as one synced transaction.
    func ask(count: Int) throws {
        try check(plain_loop_ask(loop, Int32(count)))
    }

    /// Asks and answers `count` times, each as two synced transactions.
    func askAndAnswer(count: Int) throws {
        try check(plain_loop_ask_and_answer(loop, Int32(count)))
    }

    private func check(_ code: Int32) throws {
        guard code != 0 else { return }
        let message = plain_loop_message(loop).map { String(cString: $0) } ?? ""
        throw BenchmarkError("the plain loop in C failed: \(message) (\(code))")
    }
}
