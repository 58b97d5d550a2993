import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// Pipes that another program has made non-blocking, as Node and Python's asyncio do.
@Suite("Pipes that don't block", .inParallel)
struct SharedPipeTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("A message that comes slowly is read to its end, and the pipe stays non-blocking")
    func message() async throws {
        let reading: Descriptor
        var writing: Descriptor?
        do {
            let pipe = try Pipe()
            (reading, writing) = (pipe.reading, pipe.writing)
        }
        let asked = try Child(
            CommandLineQueue.program, ["ask", "Go on?", "-m", "-", "--detach"],
            environment: ["ALERTQ_DATABASE": queue.path], input: reading.raw)
        for part in ["One, ", "two, ", "three\n"] {
            #expect(writing?.write(Array(part.utf8)) == true)
            // From here on it finds nothing to read.
            #expect(
                await eventually {
                    var request = pollfd(fd: reading.raw, events: Int16(POLLIN), revents: 0)
                    return poll(&request, 1, 0) == 0
                })
        }
        #expect(asked.poll() == nil)
        writing = nil
        #expect(await asked.exit() == 0, "\(asked.errors.text)")
        #expect(fcntl(reading.raw, F_GETFL) & O_NONBLOCK != 0)
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(alert["message"] as? String == "One, two, three")
    }

    /// Starts a program with a non-blocking pipe as its standard output, which nobody reads until it
    /// is full.
    private static let slowReader = """
        import os, select, subprocess, sys, time
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        child = subprocess.Popen(sys.argv[1:], stdout=writing)
        room = select.poll()
        room.register(writing, select.POLLOUT)
        while room.poll(0) and child.poll() is None: time.sleep(0.01)
        assert not room.poll(0), "the output is too short"
        assert not os.get_blocking(writing), "the flags have changed"
        os.close(writing)
        with os.fdopen(reading, "rb") as output: sys.stdout.buffer.write(output.read())
        sys.exit(child.wait())
        """

    @Test("A reader that is slower than the output gets all of it")
    func output() async throws {
        let text = String(repeating: "0123456789 ", count: 1500)
        for number in 1...12 {
            let asked = try await queue.run("ask", "Go on?", "-m", "\(number) \(text)", "--detach")
            #expect(asked.code == 0)
            #expect(try await queue.run("answer", "\(number)", "OK").code == 0)
        }
        for number in 1...120 {
            #expect(try await queue.run("notify", "\(number)").code == 0)
        }
        for words in [["history", "--csv"], ["history", "--json"], ["audit", "export"]] {
            let expected = try await queue.start(words).finish()
            let slow = try await queue.start(words, under: ["python3", "-c", Self.slowReader])
                .finish()
            #expect(slow.code == 0 && slow.errors.isEmpty, "\(words): \(slow.errors)")
            #expect(slow.output == expected.output, "\(words)")
        }
    }
}
