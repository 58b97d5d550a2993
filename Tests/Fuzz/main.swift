import Glibc

/// Runs one subject under libFuzzer: `SUBJECT=options fuzz [arguments of libFuzzer]`.
///
/// Built by `.ci/fuzz` only, because it needs the fuzzer's own instrumentation; see
/// <https://llvm.org/docs/LibFuzzer.html>.
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ values: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The chosen subject; libFuzzer's callback is a C function, which can't capture it.
private nonisolated(unsafe) var chosen: (@Sendable (inout Input) -> Void)?

private func main() -> Int32 {
    let name = getenv("SUBJECT").map { String(cString: $0) } ?? ""
    guard let subject = subjects[name] else {
        print("set SUBJECT to one of: " + subjects.keys.sorted().joined(separator: " "))
        return 64
    }
    chosen = subject
    var count = CommandLine.argc
    var values = CommandLine.unsafeArgv
    return runFuzzer(&count, &values) { bytes, count in
        var input = Input(UnsafeBufferPointer(start: bytes, count: count))
        chosen?(&input)
        return 0
    }
}

exit(main())
