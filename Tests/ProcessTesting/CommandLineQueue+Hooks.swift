import Linux
import TestSupport

extension CommandLineQueue {
    /// Starts a hook, with a request on its standard input.
    package func hook(
        _ agent: String, _ request: [UInt8], _ options: [String] = []
    ) throws -> Child {
        let input = try Descriptor.holding(request, name: "request")
        return try Child(
            Self.program, ["hook", agent] + options, environment: ["ALERTQ_DATABASE": path],
            input: input.raw)
    }

    /// Starts a hook whose request does not end for as long as the pipe is kept.
    package func hook(_ agent: String, _ options: [String] = [], reading pipe: Pipe) throws -> Child
    {
        try Child(
            Self.program, ["hook", agent] + options, environment: ["ALERTQ_DATABASE": path],
            input: pipe.reading.raw)
    }
}
