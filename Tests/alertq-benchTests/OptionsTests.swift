import TestSupport
import Testing

@testable import alertq_bench

@Suite("Options of the benchmark", .inParallel)
struct OptionsTests {
    @Test("Without options everything is measured, with a million alerts, in five rounds")
    func defaults() throws {
        let options = try Options([], known: ["ask"])
        #expect(options.names.isEmpty)
        #expect(options.plan.alerts == 1_000_000)
        #expect(options.plan.rounds == 5)
        #expect(!options.isJSON && !options.isList && !options.isHelp)
    }

    @Test("Options and names may be in any order")
    func order() throws {
        let options = try Options(
            [
                "round-trip", "--json", "--rounds", "2", "ask", "--alerts", "70", "--keep", "/x",
                "--sync-delay", "150",
            ],
            known: ["ask", "round-trip", "bell"])
        #expect(options.names == ["ask", "round-trip"])
        #expect(options.isJSON)
        #expect(options.plan.rounds == 2)
        #expect(options.plan.alerts == 70)
        #expect(options.plan.directory == "/x")
        #expect(options.plan.syncDelay == 150)
        #expect(try Options(["--full"], known: []).plan.alerts == 10_000_000)
    }

    @Test(
        "Unknown words are refused by name",
        arguments: [
            ["--fast"], ["nothing"], ["--rounds"], ["--rounds", "0"], ["--alerts", "many"],
            ["--keep"], ["--program"], ["--sync-delay", "-1"],
        ])
    func unknown(words: [String]) throws {
        let error = #expect(throws: BenchmarkError.self) { try Options(words, known: ["ask"]) }
        #expect(error?.description.contains(words[0]) == true)
    }

    @Test("A small run repeats little, but always more than once")
    func small() throws {
        let plan = try Options(["--small"], known: []).plan
        #expect(plan.rounds == 1)
        #expect(plan.count(1000) == 10)
        #expect(plan.count(3) == 2)
        #expect(Plan().count(3) == 3)
    }
}
