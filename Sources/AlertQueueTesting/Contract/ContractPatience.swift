/// For how long a check waits for what has to happen.
package enum ContractPatience {
    /// Shorter where a check is to fail: a store that is wrong on purpose keeps it waiting.
    @TaskLocal package static var limit = Duration.seconds(20)
}
