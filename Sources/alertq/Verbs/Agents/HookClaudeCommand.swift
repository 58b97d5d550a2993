/// `alertq hook claude`: answers a permission request of Claude Code.
struct HookClaudeCommand: HookCommand {
    static let agent = HookAgent.claude
    static let abstract = "Ask whether Claude Code may use a tool, as its hook"
    static let discussion = [
        """
        It reads the request on stdin, as Claude Code sends it to hooks for PreToolUse or \
        PermissionRequest, shows the tool's whole input with the buttons “Allow once” and “Deny”, \
        and prints the answer as Claude Code expects it. The article “Answer the permission \
        prompts of coding agents” has the configuration.
        """,
        answers, failures,
    ]

    var common = AgentOptions()
    var hook = HookOptions()
}
