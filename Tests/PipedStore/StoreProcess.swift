import AlertCore
import Foundation
import Synchronization

/// A process that serves stores, which is started again when it is killed.
///
/// Calls that had no reply by then are sent to the new one. A change has a request id, with which it
/// is found again.
package final class StoreProcess: Sendable {
    private struct Call {
        let line: Data
        let finish: @Sendable (Data) -> Void
    }

    private struct State {
        var process: Process?
        var socket: Int32 = -1
        var lastID = 0
        var calls: [Int: Call] = [:]
        /// The stores that are open, and their clocks.
        var clocks: [Int: (clock: any AlertClock, sent: StoreRequest.Reading)] = [:]
        var lastStore = 0
        var isEnding = false
        /// Whether notes may not be on disk yet, which a kill would lose.
        var hasNotes = false
        var hasClaims = false
        var commits = 0
        /// The commit during which it is killed next.
        var nextKill = 1
    }

    private let program: String
    private let arguments: [String]
    private let isKilled: Bool
    private let state = Mutex(State())

    /// - Parameter isKilled: Whether the process is killed during its first commit, and then again
    ///   after three times as many each time: starting it takes longer than most checks.
    package init(_ program: String, _ arguments: [String], isKilled: Bool) throws {
        self.program = program
        self.arguments = arguments
        self.isKilled = isKilled
        try state.withLock { try start(&$0) }
    }

    deinit { end() }

    /// Ends the process.
    package func end() {
        let process = state.withLock { state -> Process? in
            state.isEnding = true
            if state.socket >= 0 { shutdown(state.socket, Int32(SHUT_RDWR)) }
            state.socket = -1
            return state.process
        }
        process?.terminate()
    }

    // MARK: - The process

    private func start(_ state: inout State) throws {
        var sockets: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &sockets) == 0 else {
            throw AlertError.storage(operation: "make a socket", "errno \(errno)")
        }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let theirs = FileHandle(fileDescriptor: sockets[1], closeOnDealloc: true)
        process.standardInput = theirs
        process.standardOutput = theirs
        try process.run()
        try theirs.close()
        state.process = process
        state.socket = sockets[0]
        let socket = sockets[0]
        Thread { [weak self] in
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var line = Data()
            while true {
                let count = read(socket, &bytes, bytes.count)
                guard count > 0 else { break }
                for part in bytes[..<count].split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
                ).enumerated() {
                    if part.offset > 0 {
                        self?.receive(line)
                        line = Data()
                    }
                    line += part.element
                }
            }
            if let self { self.restart(after: socket) } else { close(socket) }
        }.start()
    }

    private func receive(_ line: Data) {
        guard let head = try? JSONDecoder().decode(StoreReplyHead.self, from: line) else { return }
        let call = state.withLock { $0.calls.removeValue(forKey: head.id) }
        call?.finish(line)
    }

    private func restart(after socket: Int32) {
        state.withLock { state in
            // Not before: its number may be another file's as soon as it is closed.
            close(socket)
            guard !state.isEnding, state.socket == socket else { return }
            state.socket = -1
            state.process?.waitUntilExit()
            try? start(&state)
            for (store, clock) in state.clocks.sorted(by: { $0.key < $1.key }) {
                state.lastID += 1
                write(
                    Self.line(
                        StoreRequest(
                            id: state.lastID, store: store, now: clock.sent, call: .open)),
                    &state)
            }
            for (_, call) in state.calls.sorted(by: { $0.key < $1.key }) {
                write(call.line, &state)
            }
        }
    }

    private func write(_ line: Data, _ state: inout State) {
        line.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(
                    state.socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
                // A process that is gone is started again, and gets the line then.
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private static func line(_ request: StoreRequest) -> Data {
        let line = try? JSONEncoder().encode(request)
        return (line ?? Data("can't encode".utf8)) + Data("\n".utf8)
    }

    // MARK: - Calls

    /// A new store with a clock.
    func add(_ clock: any AlertClock) -> Int {
        state.withLock { state in
            state.lastStore += 1
            state.clocks[state.lastStore] = (clock, StoreRequest.Reading(clock.now()))
            return state.lastStore
        }
    }

    func remove(_ store: Int) { state.withLock { _ = $0.clocks.removeValue(forKey: store) } }

    /// Tells the process how far a store's clock has moved.
    func sendClock(of store: Int) {
        state.withLock { state in
            guard let known = state.clocks[store] else { return }
            let now = StoreRequest.Reading(known.clock.now())
            guard now != known.sent else { return }
            state.clocks[store]?.sent = now
            write(Self.line(StoreRequest(id: 0, store: store, now: now, call: nil)), &state)
        }
    }

    /// Makes a call; `finish` gets the line of its reply.
    func call(_ call: StoreCall, of store: Int, finish: @escaping @Sendable (Data) -> Void) {
        let victim = state.withLock { state -> Process? in
            state.lastID += 1
            let now = state.clocks[store]?.clock.now() ?? ClockReading(onWallClock: 0)
            let line = Self.line(
                StoreRequest(
                    id: state.lastID, store: store, now: StoreRequest.Reading(now), call: call))
            state.clocks[store]?.sent = StoreRequest.Reading(now)
            state.calls[state.lastID] = Call(line: line, finish: finish)
            write(line, &state)
            return mayKill(during: call, &state) ? state.process : nil
        }
        guard let victim else { return }
        // Before, while and after the change is made.
        usleep(.random(in: 0...3000))
        kill(victim.processIdentifier, SIGKILL)
    }

    private func mayKill(during call: StoreCall, _ state: inout State) -> Bool {
        switch call {
        case .post: state.hasNotes = true
        // They end with the process.
        case .claim: state.hasClaims = true
        case .commit(_, _, _, nil):
            state.commits += 1
            guard isKilled, !state.hasNotes, !state.hasClaims, state.commits >= state.nextKill
            else { break }
            state.nextKill = state.commits * 3
            return true
        default: break
        }
        return false
    }

    /// Records that everything that was sent so far is on disk.
    func didCommit() { state.withLock { $0.hasNotes = false } }
}
