import Foundation
import ProcessTesting
import TestSupport
import Testing

@Suite("Metrics", .inParallel)
struct PrometheusTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// The samples by their names with labels, each checked for its form and its description.
    private func samples(_ options: String...) async throws -> [String: Double] {
        let told = try await queue.start(["stats", "--prometheus"] + options).finish()
        #expect(told.code == 0 && told.output.hasSuffix("\n"))
        let sample =
            /((alertq_[a-z_]+)(?:\{(?:[a-z]+="(?:[^"\\]|\\["\\n])*",?)+\})?) ([0-9.]+)/
        var samples: [String: Double] = [:]
        var (helped, typed) = (Set<String>(), [String: String]())
        for line in told.output.split(separator: "\n") {
            if let match = line.wholeMatch(of: /# HELP (alertq_[a-z_]+) \S.*\./) {
                #expect(helped.insert(String(match.1)).inserted)
            } else if let match = line.wholeMatch(
                of: /# TYPE (alertq_[a-z_]+) (counter|gauge|histogram)/)
            {
                typed[String(match.1)] = String(match.2)
            } else {
                let match = try #require(line.wholeMatch(of: sample), "\(line)")
                let family = String(match.2).replacing(/_(bucket|sum|count)$/, with: "")
                #expect(helped.contains(family) && typed[family] != nil, "\(line)")
                #expect(typed[family] != "counter" || match.2.hasSuffix("_total"))
                #expect(samples[String(match.1)] == nil, "\(line)")
                samples[String(match.1)] = Double(match.3)
            }
        }
        #expect(Set(typed.keys) == helped)
        return samples
    }

    @Test("For a source without alerts all counts are zero, and no source is named")
    func empty() async throws {
        _ = try await queue.run("notify", "Done", "--source", "a")
        let samples = try await samples("--source", "b")
        #expect(samples["alertq_waiting"] == 0 && samples["alertq_oldest_waiting_seconds"] == 0)
        #expect(samples["alertq_answer_seconds_sum"] == 0)
        #expect(samples[#"alertq_ended_total{outcome="answered"}"#] == 0)
        #expect(!samples.keys.contains { $0.contains("source=") })
    }

    @Test("Sources that look the same are counted as one")
    func sameNames() async throws {
        for source in ["a\tb", "a␉b"] { _ = try await queue.run("notify", "x", "--source", source) }
        let samples = try await samples()
        #expect(samples[#"alertq_source_waiting{source="a␉b"}"#] == 2)
    }

    @Test("The metrics are those of the queue, no matter what its sources are called")
    func numbers() async throws {
        let strange = #"a"b\c"#
        for (source, end) in [(strange, "answer"), (strange, ""), ("b", "withdraw"), ("b", "")] {
            let asked = try await queue.run(
                "ask", "?", "-b", "yes", "--detach", "--source", source)
            let id = String(asked.output.dropLast())
            if end == "withdraw" { _ = try await queue.run(end, id) }
            if end == "answer" { _ = try await queue.runInTerminal(end, id, "yes") }
        }
        let samples = try await samples()
        let expected: [String: Double] = [
            "alertq_waiting": 2, "alertq_asked_total": 4,
            #"alertq_ended_total{outcome="answered"}"#: 1,
            #"alertq_ended_total{outcome="withdrawn"}"#: 1,
            #"alertq_ended_total{outcome="expired"}"#: 0,
            #"alertq_uncollected{outcome="answered"}"#: 1,
            #"alertq_uncollected{outcome="expired"}"#: 0, "alertq_screens": 0,
            #"alertq_source_waiting{source="a\"b\\c"}"#: 1,
            #"alertq_source_ended_total{source="b",outcome="withdrawn"}"#: 1,
            "alertq_answer_seconds_count": 1, #"alertq_answer_seconds_bucket{le="+Inf"}"#: 1,
            "alertq_answer_from_shown_seconds_count": 0, "alertq_log_head_sequence": 6,
        ]
        for (name, value) in expected { #expect(samples[name] == value, "\(name)") }
        // Nobody will collect what its asker took back.
        #expect(samples[#"alertq_uncollected{outcome="withdrawn"}"#] == nil)
        let age = try #require(samples["alertq_oldest_waiting_seconds"])
        #expect(age > 0 && age < 100)
        let sum = try #require(samples["alertq_answer_seconds_sum"])
        #expect(sum > 0 && sum < 100)
        let buckets = samples.filter { $0.key.hasPrefix("alertq_answer_seconds_bucket") }
        #expect(buckets.count == 19 && buckets.values.allSatisfy { $0 <= 1 })
    }

    @Test("A screen is counted while it shows the queue's alerts, a response until it is collected")
    func current() async throws {
        let asked = try await queue.run("ask", "Prune?", "-b", "yes", "--detach")
        #expect(try await queue.run("answer", String(asked.output.dropLast()), "yes").code == 0)
        let terminal = try PseudoTerminal()
        let present = try queue.start(["present"], on: terminal)
        #expect(await eventually { (try? await samples())?["alertq_screens"] == 1 })
        #expect(try await samples()[#"alertq_uncollected{outcome="answered"}"#] == 1)
        #expect(try await queue.run("collect", "--id", "1").code == 0)
        #expect(try await samples()[#"alertq_uncollected{outcome="answered"}"#] == 0)
        present.kill(SIGTERM)
        #expect(await eventually { (try? await samples())?["alertq_screens"] == 0 })
        _ = await present.exit()
    }

    @Test("Metrics can't be combined with a time, nor with JSON")
    func combined() async throws {
        for other in [["--since", "1h"], ["--until", "1h"], ["--json"]] {
            let told = try await queue.start(["stats", "--prometheus"] + other).finish()
            #expect(told.code == 64 && told.errors.contains("can't be combined"), "\(told)")
        }
    }
}
