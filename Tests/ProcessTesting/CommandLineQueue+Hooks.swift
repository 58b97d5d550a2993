import Linux
import TestSupport

extension CommandLineQueue {
    /// Starts a hook, under another program if needed, with a message on its standard input.
    ///
    /// It asks whether or not a screen is there, unless the options say otherwise.
    package func hook(
        _ agent: String, _ request: [UInt8], _ options: [String] = [], under wrapper: [String] = []
    ) throws -> Child {
        let asks =
            options.contains("--if-unattended") ? [] : ["--if-unattended", "wait"]
        return try hookAsConfigured(agent, request, options + asks, under: wrapper)
    }

    /// Starts a hook with these options alone.
    package func hookAsConfigured(
        _ agent: String, _ request: [UInt8], _ options: [String], under wrapper: [String] = []
    ) throws -> Child {
        let input = try Descriptor.holding(request, name: "request")
        let words = wrapper + [Self.program, "hook", agent] + options
        return try Child(
            words[0], Array(words.dropFirst()), environment: ["ALERTQ_DATABASE": path],
            input: input.raw)
    }

    /// Starts a hook whose request does not end for as long as the pipe is kept.
    package func hook(_ agent: String, _ options: [String] = [], reading pipe: Pipe) throws -> Child
    {
        try Child(
            Self.program, ["hook", agent, "--if-unattended", "wait"] + options,
            environment: ["ALERTQ_DATABASE": path],
            input: pipe.reading.raw)
    }
}
