/// A verb of the command: it parses its arguments when it is made, and then runs.
///
/// The table of options is the one place that says what a verb takes: parsing and help both
/// follow from it.
package protocol Command: Sendable {
    /// What people type after `alertq`; two words for a verb of a group, such as `audit list`.
    static var name: String { get }
    /// One line for `alertq help`; starts with a verb, ends without a full stop.
    static var abstract: String { get }
    /// The arguments that are not options, in order. One in brackets may be missing; with dots it
    /// stands for any number.
    static var operands: [String] { get }
    /// The verb's own options, in the order of its help.
    static var options: [Option] { get }
    /// The options that it shares with other verbs.
    static var common: [Option] { get }
    /// Paragraphs of help that follow the options.
    static var discussion: [String] { get }

    init(_ arguments: Arguments) throws
    /// Does all of the work on the calling thread, if that goes without waiting; `nil` means that
    /// nothing has been done yet, and ``run(in:)`` has to.
    func runAtOnce(in context: Context) throws -> ExitCode?
    func run(in context: Context) async throws -> ExitCode
}

extension Command {
    package static var operands: [String] { [] }
    package static var options: [Option] { [] }
    package static var common: [Option] { Option.common }
    package static var discussion: [String] { [] }

    package func runAtOnce(in context: Context) throws -> ExitCode? { nil }
}
