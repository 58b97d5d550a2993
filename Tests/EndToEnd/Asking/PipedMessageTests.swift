import ProcessTesting
import TestSupport
import Testing

@Suite("Piped message", .inParallel)
struct PipedMessageTests {
    private func message(_ options: String, from script: String) async throws -> String {
        let queue = try CommandLineQueue()
        let pipe = "\(script) | \"$0\" notify \(options) -m - Log"
        let notify = try Child(
            "sh", ["-c", pipe, CommandLineQueue.program],
            environment: ["ALERTQ_DATABASE": queue.path])
        let finished = await notify.finish()
        #expect(finished.code == 0 && finished.errors.isEmpty, "\(finished)")
        return try await queue.objects("show", "1").first?["message"] as? String ?? ""
    }

    @Test("A log of any length and any bytes becomes a message with its end")
    func log() async throws {
        let colours = try await message("", from: #"printf '\033[31ma\377\000\n'"#)
        #expect(colours == "\u{1B}[31ma�␀")
        let end = try await message("", from: "seq 1000000")
        #expect(end.hasPrefix("[the first 6823") && end.hasSuffix("\n999999\n1000000"))
        #expect(end.utf8.count <= 65_536 && end.utf8.count > 65_000)
        let start = try await message("--message-from start", from: "seq 1000000")
        #expect(start.hasPrefix("1\n2\n") && start.hasSuffix(" bytes are left out]"))
    }

    @Test("A message that is an argument is refused if it is too long, and is never cut")
    func argument() async throws {
        let queue = try CommandLineQueue()
        let long = String(repeating: "a", count: 70_000)
        #expect(try await queue.run("notify", "Log", "-m", long).code == 65)
        let cut = try await queue.run("notify", "Log", "-m", long, "--message-from", "end")
        #expect(cut.code == 64 && cut.errors.contains("--message -"), "\(cut)")
    }
}
