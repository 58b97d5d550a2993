/// `alertq hook codex`: answers a permission request of Codex.
struct HookCodexCommand: HookCommand {
    static let agent = HookAgent.codex
    static let abstract = "Ask whether Codex may use a tool, as its hook"
    static let discussion = [
        """
        It reads the request on stdin, as Codex sends it to hooks for PermissionRequest or \
        PreToolUse, shows the tool's whole input with the buttons “Allow once” and “Deny”, and \
        prints the answer as Codex expects it: for PreToolUse, nothing where it is allowed. The \
        article “Answer the permission prompts of coding agents” has the configuration.
        """,
        answers, failures,
    ]

    var common = AgentOptions()
    var hook = HookOptions()
}
