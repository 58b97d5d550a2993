/// The options of every verb that an agent starts, which prints in the agent's own format.
struct AgentOptions: QueueLocationOptions {
    static let options = location

    var database: String?
    var isSystem = false
    @Required var queue: QueueChoice
    let isUTC = false
}
