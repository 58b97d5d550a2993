/// The options of a verb that opens no queue.
struct HelpOptions: CommonOptions {
    static let options = [Option<HelpOptions>.help]

    var isUTC: Bool { false }

    func validate() {}
}
