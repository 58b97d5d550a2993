// A daemon that asks before it restarts services, and continues after it is restarted itself.
//
//     RestartDaemon SERVICE VERSION PROGRAM
//
// It asks whether SERVICE may be restarted because VERSION of it was installed, and runs `PROGRAM
// SERVICE ID` when a person says yes; ID is the alert's id. The handler is registered under a name,
// so an answer that comes while no daemon runs is handled by the next one. It runs at least once
// for each answer: a daemon that is killed in the middle leaves the response uncollected, and the
// next one runs PROGRAM again, with the same ID. SIGTERM ends the daemon.
//
// Only a person's yes counts: answer on a screen (`alertq present`), or type `alertq answer ID
// restart` in a terminal. The same command in a script or a scheduled job is a program's answer,
// and restarts nothing.
import AlertQueue
import Dispatch
import Foundation

struct Failure: Error, CustomStringConvertible {
    let description: String
}

func restart(_ service: String, with program: String, id: Alert.ID) async throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [service, "\(id)"]
    let status = try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    // Throwing leaves the response uncollected: the next daemon tries again.
    guard status == 0 else { throw Failure(description: "\(program) exited with \(status)") }
}

func serve(_ service: String, _ version: String, _ program: String) async throws {
    let manager = try await AlertManager(source: "restart-daemon")
    try await manager.register(handler: "service.restart") { response in
        // Every outcome comes here; only a person's yes restarts the service, not a program's.
        guard response.by == .person, response.button?.id == "restart" else { return }
        let service = response.userInfo["service"] ?? ""
        do {
            try await restart(service, with: program, id: response.alertID)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw error
        }
    }
    // With the key, each version is asked about once, however often the daemon starts.
    try await manager.show(
        Alert(
            "Restart \(service)?", message: "Version \(version) was installed.",
            buttons: [Alert.Button("Restart", id: "restart"), .cancel("Not now", id: "no")],
            key: "\(service)-\(version)", handler: "service.restart",
            userInfo: ["service": service]))
    await terminated()
    await manager.close()
}

/// Waits for SIGTERM.
func terminated() async {
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    await withCheckedContinuation { continuation in
        source.setEventHandler {
            source.cancel()
            continuation.resume()
        }
        source.resume()
    }
}

let words = CommandLine.arguments
guard words.count == 4 else {
    FileHandle.standardError.write(Data("usage: RestartDaemon SERVICE VERSION PROGRAM\n".utf8))
    exit(64)
}
do {
    try await serve(words[1], words[2], words[3])
} catch {
    FileHandle.standardError.write(Data("RestartDaemon: \(error)\n".utf8))
    exit(70)
}
