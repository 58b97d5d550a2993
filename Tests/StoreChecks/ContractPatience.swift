/// How long a check waits for something that must happen.
package enum ContractPatience {
    /// The limit; shorter where a check is expected to fail, since a wrong store lets it wait.
    @TaskLocal package static var limit = Duration.seconds(20)
}
