"""Tests of `alertq` with the real Claude Code and Codex as its clients; started by .ci/agents.

The agents' models are faked (fake_model.py); everything else is as users have it: the hooks are
those that the article about permission prompts recommends, questions are answered by people at
terminals, and agents with a terminal of their own are watched and typed into there.
"""

import json
import re
import signal
import sys
import time
import unittest

from agent_world import World, eventually
from fake_model import call

COMMAND = "python3 -c 1 && touch made"
# What Claude Code runs without asking in no mode but those that ask for nothing.
BASH = call("Bash", command=COMMAND, description="Try it")


def escalated(command):
    """What Codex asks about in its terminal."""
    return call(
        "exec_command", cmd=command, sandbox_permissions="require_escalated",
        justification="It has to be written there",
    )


class AgentTests(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.model = self.world.model

    # MARK: - What a test says about a question

    def asked(self, count=1, seconds=60):
        question = self.world.question(count, seconds)
        self.assertIsNotNone(question, f"{count} questions wait")
        return question

    def withdrawn(self, question, seconds=20):
        """The question was taken back, and an answer that comes too late is refused."""
        ended = self.world.ended(question, seconds)
        self.assertEqual(ended and ended["outcome"], "withdrawn")
        self.assertNotEqual(self.world.answer(question, "allow"), 0)
        self.assertEqual(self.world.ended(question)["outcome"], "withdrawn")

    def kept(self, question, button="yes"):
        """The question still waits, and an answer is taken."""
        self.assertIsNone(self.world.alerts("show", str(question["id"]))[0]["outcome"])
        self.assertEqual(self.world.answer(question, button), 0)

    def nothing_waits(self):
        self.assertTrue(eventually(lambda: not self.world.alerts(), 20), self.world.alerts())

    def answered(self, button):
        """A person answers the question that waits."""
        question = self.asked()
        self.assertEqual(self.world.answer(question, button), 0)
        return question

    def told(self, script, text):
        """The model was told something by the last tool."""
        last = self.model.returned(script)[-1:]
        self.assertTrue(last and text in last[0], f"“{text}” is not in {last}")

    def ran(self, name="made"):
        self.assertTrue(eventually(lambda: self.world.made(name), 30), f"{name} was not made")

    def did_not_run(self, name="made"):
        """To be said once the agent has gone on."""
        self.assertFalse(self.world.made(name), f"{name} was made")


class ClaudeHookTests(AgentTests):
    """Without a terminal."""

    def setUp(self):
        super().setUp()
        self.model.play("one", BASH)

    def test_allowed_command_runs(self):
        self.world.hook("claude")
        self.world.attend()
        agent = self.world.claude("one")
        question = self.answered("allow")
        self.assertIn(COMMAND, question["message"])
        self.world.finish(agent)
        self.ran()
        self.nothing_waits()

    def test_denied_command_does_not_run(self):
        self.world.hook("claude")
        self.world.attend()
        agent = self.world.claude("one")
        self.answered("deny")
        self.world.finish(agent)
        self.did_not_run()
        self.told("one", "denied by a person")

    def test_before_each_use(self):
        """PreToolUse decides in every mode, also where Claude Code would not ask."""
        self.world.hook("claude", "PreToolUse")
        self.world.attend()
        for mode in ("default", "bypassPermissions"):
            for button in ("deny", "allow"):
                with self.subTest(mode=mode, button=button):
                    agent = self.world.claude("one", mode=mode)
                    self.answered(button)
                    self.world.finish(agent)
                    self.assertEqual(self.world.made("made"), button == "allow")
                    if button == "deny":
                        self.told("one", "denied by a person")
                    (self.world.project / "made").unlink(missing_ok=True)

    def test_later_prompt_asks_anew(self):
        """An approval that came too late for one prompt is none for the next."""
        self.world.hook("claude", seconds=3)
        self.world.attend()
        agent = self.world.claude("one")
        question = self.asked()
        self.world.finish(agent)
        self.did_not_run()
        self.world.answer(question, "allow")
        self.world.hook("claude")
        agent = self.world.claude("one", "--continue")
        again = self.asked()
        self.assertNotEqual(again["id"], question["id"])
        self.assertEqual(self.world.answer(again, "deny"), 0)
        self.world.finish(agent)
        self.did_not_run()

    def test_each_use_asks(self):
        """An approval counts once, also within a turn."""
        self.world.hook("claude")
        self.world.attend()
        self.model.play("twice", BASH, BASH)
        agent = self.world.claude("twice")
        self.answered("allow")
        self.ran()
        (self.world.project / "made").unlink()
        self.answered("deny")
        self.world.finish(agent)
        self.did_not_run()

    def test_two_sessions(self):
        self.world.hook("claude")
        self.world.attend()
        agents = [self.world.claude("one") for _ in range(2)]
        self.asked(2)
        for question, button in zip(self.world.alerts(), ("allow", "deny"), strict=True):
            self.assertEqual(self.world.answer(question, button), 0)
        for agent in agents:
            self.world.finish(agent)
        heard = self.model.has_heard("denied by a person"), self.world.made("made")
        self.assertEqual(heard, (True, True))

    def test_unattended(self):
        """--if-unattended decides what happens while nobody is at a screen."""
        change = lambda word: lambda command: command.replace(
            "--only-person", "--only-person --if-unattended " + word)
        self.world.hook("claude", change=change("deny"))
        self.world.finish(self.world.claude("one"), 45)
        self.did_not_run()
        self.told("one", "nobody")
        self.world.hook("claude", change=change("wait"))
        agent = self.world.claude("one")
        self.answered("allow")
        self.world.finish(agent)
        self.ran()

    def test_two_subagents(self):
        """Equal requests of two subagents are two questions, each with its own answer.

        Subagents work in the background: that the agent stops, and goes on when it hears that one
        of them has ended, says nothing about the other's question.
        """
        self.world.hook("claude")
        self.world.attend()
        prompts = ("first", "second")
        kind = {"subagent_type": "general-purpose"}
        self.model.play("both", [
            call("Agent", description=name, prompt=f"[play {name}]", **kind) for name in prompts
        ])
        for name in prompts:
            self.model.play(name, BASH)
        agent = self.world.claude("both")
        self.asked(2)
        first, second = self.world.alerts()
        self.assertEqual(self.world.answer(first, "allow"), 0)
        self.assertTrue(eventually(lambda: self.model.has_heard("<task-notification>")))
        self.kept(second, "deny")
        self.world.finish(agent)
        results = [self.model.returned(name)[-1] for name in prompts]
        denied = ["denied by a person" in result for result in results]
        self.assertEqual(sorted(denied), [False, True], results)

    def test_subagent_ends_meanwhile(self):
        """The end of a subagent leaves the question of the agent that started it."""
        self.world.hook("claude", tapped="SubagentStop")
        self.world.attend()
        subagent = call(
            "Agent", description="Wait", prompt="[play inner]", subagent_type="general-purpose")
        self.model.play("outer", subagent, BASH)
        self.model.play("inner", call("Bash", command="sleep 2"), "Ready.")
        agent = self.world.claude("outer")
        question = self.asked()
        self.assertTrue(eventually(lambda: self.world.taps("exit")))
        self.kept(question, "allow")
        self.world.finish(agent)
        self.ran()

    def test_agent_stops_waiting(self):
        self.world.hook("claude", seconds=3)
        self.world.attend()
        agent = self.world.claude("one")
        question = self.asked()
        self.world.finish(agent)
        self.did_not_run()
        self.withdrawn(question)

    def test_agent_interrupted(self):
        self.world.hook("claude")
        self.world.attend()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number.name):
                agent = self.world.claude("one")
                question = self.asked()
                agent.send_signal(number)
                self.world.finish(agent)
                self.withdrawn(question)
                self.did_not_run()

    def test_nobody_at_a_screen(self):
        """Each mode does what it does without a hook, at once."""
        self.world.hook("claude")
        refusals = {
            "default": "require approval", "acceptEdits": "require", "plan": "Auto mode",
            "auto": "Auto mode", "dontAsk": "don't ask mode", "bypassPermissions": None,
        }
        for mode, refusal in refusals.items():
            with self.subTest(mode=mode):
                self.world.finish(self.world.claude("one", mode=mode), 45)
                self.assertEqual(self.world.made("made"), refusal is None)
                if refusal:
                    self.told("one", refusal)
                self.nothing_waits()

    def test_nobody_at_a_screen_before_each_use(self):
        """Silence would run the tool in some modes, so each one denies."""
        self.world.hook(
            "claude", "PreToolUse", change=lambda command: command.replace(
                "--only-person", "--only-person --wait 3s"))
        for mode in ("default", "acceptEdits", "plan", "auto", "bypassPermissions", "dontAsk"):
            with self.subTest(mode=mode):
                self.world.finish(self.world.claude("one", mode=mode), 45)
                self.did_not_run()
                self.told("one", "nobody")

    def test_files_are_readable(self):
        self.world.hook("claude")
        self.world.attend()
        notes = self.world.project / "notes.txt"
        self.model.play(
            "write", call("Write", file_path=str(notes), content="first line\nsecond line\n"))
        agent = self.world.claude("write")
        question = self.answered("allow")
        self.world.finish(agent)
        self.assertIn("notes.txt", question["title"])
        self.assertRegex(question["message"], r"(?m)^.{0,2}first line$\n.{0,2}second line$")
        self.assertEqual(notes.read_text(), "first line\nsecond line\n")
        self.model.play(
            "edit", call("Read", file_path=str(notes)),
            call("Edit", file_path=str(notes), old_string="second line", new_string="last line"))
        agent = self.world.claude("edit")
        question = self.answered("allow")
        self.world.finish(agent)
        self.assertIn("notes.txt", question["title"])
        self.assertRegex(question["message"], r"(?m)^-.?second line$")
        self.assertRegex(question["message"], r"(?m)^\+.?last line$")
        self.assertEqual(notes.read_text(), "first line\nlast line\n")
        long = "".join(f"line {number}\n" for number in range(20_000))
        self.model.play("write", call("Write", file_path=str(notes) + ".log", content=long))
        agent = self.world.claude("write")
        question = self.answered("allow")
        self.world.finish(agent)
        self.assertIn("notes.txt.log", question["title"])
        self.assertIn("line 1\nline 2\n", question["message"])
        self.assertIn(f"{len(long)} bytes", question["message"])
        self.assertRegex(question["message"], "SHA-256 [0-9a-f]{64}")
        self.assertEqual((self.world.project / "notes.txt.log").read_text(), long)

    def test_alertq_is_missing(self):
        (self.world.bin / "alertq").unlink()
        for event, refusal in {"PermissionRequest": "approval", "PreToolUse": "alertq"}.items():
            with self.subTest(event=event):
                self.world.hook("claude", event)
                self.world.finish(self.world.claude("one"))
                self.did_not_run()
                self.told("one", refusal)


class ClaudeDialogTests(AgentTests):
    """In a terminal, where Claude Code's own dialog is open beside the hook."""

    def setUp(self):
        super().setUp()
        self.model.play("one", BASH)
        self.model.play("two", BASH)
        self.world.hook("claude")

    def dialog(self, attended=True):
        """The agent's terminal, with its dialog open."""
        if attended:
            self.world.attend()
        terminal = self.world.claude_terminal()
        self.world.prompt(terminal, "one")
        self.assertTrue(terminal.shows("Do you want to proceed?"), terminal.screen)
        return terminal

    def choose(self, terminal, answer):
        # Keys are ignored at first, so that nobody answers what has just appeared.
        time.sleep(1)
        number = re.search(rf"(\d)\. {answer} *$", terminal.screen, re.M)
        self.assertTrue(number, terminal.screen)
        terminal.type(number.group(1))

    def test_yes_there(self):
        terminal = self.dialog()
        question = self.asked()
        self.choose(terminal, "Yes")
        self.ran()
        self.withdrawn(question)

    def test_no_there(self):
        terminal = self.dialog()
        question = self.asked()
        self.choose(terminal, "No")
        self.withdrawn(question)
        self.did_not_run()

    def test_escape_there(self):
        terminal = self.dialog()
        question = self.asked()
        terminal.type("Escape")
        self.withdrawn(question)
        self.did_not_run()

    def test_escape_before_each_use(self):
        """With PreToolUse, there is no dialog yet."""
        self.world.hook("claude", "PreToolUse")
        self.world.attend()
        terminal = self.world.claude_terminal()
        self.world.prompt(terminal, "one")
        question = self.asked()
        terminal.type("Escape")
        self.withdrawn(question)
        self.did_not_run()

    def test_queued_message(self):
        """A message for later is told to the hooks at once, and takes no question back."""
        self.world.hook("claude", "PreToolUse", tapped="UserPromptSubmit")
        self.world.attend()
        terminal = self.world.claude_terminal()
        self.world.prompt(terminal, "one")
        question = self.asked()
        terminal.type("-l", "Hurry up.")
        self.assertTrue(terminal.shows("Hurry up."))
        terminal.type("Enter")
        heard = lambda: any("Hurry up." in line["in"] for line in self.world.taps("in"))
        self.assertTrue(eventually(heard), terminal.screen)
        self.assertTrue(eventually(lambda: len(self.world.taps("exit")) == 2))
        self.kept(question, "allow")
        self.ran()

    def test_terminal_closed(self):
        terminal = self.dialog()
        question = self.asked()
        terminal.close()
        self.withdrawn(question)
        self.did_not_run()

    def test_answer_closes_the_dialog(self):
        terminal = self.dialog()
        self.answered("allow")
        self.ran()
        self.assertTrue(terminal.shows("Done."))
        self.assertNotIn("Do you want to proceed?", terminal.screen)

    def test_denial_closes_the_dialog(self):
        terminal = self.dialog()
        self.answered("deny")
        self.assertTrue(eventually(lambda: "Do you want to proceed?" not in terminal.screen))
        self.did_not_run()

    def test_next_prompt_asks_anew(self):
        terminal = self.dialog()
        self.choose(terminal, "Yes")
        self.ran()
        self.nothing_waits()
        (self.world.project / "made").unlink()
        self.world.prompt(terminal, "two")
        self.answered("deny")
        self.assertTrue(eventually(lambda: "Do you want to proceed?" not in terminal.screen))
        self.did_not_run()

    def test_one_of_two_uses(self):
        """A yes there to one use of a tool leaves the question about the other."""
        self.model.play("one", [BASH, call("Bash", command=COMMAND + "-too")])
        terminal = self.dialog()
        first = self.asked()
        self.choose(terminal, "Yes")
        self.ran()
        self.withdrawn(first)
        second = self.asked()
        self.assertIn("made-too", second["message"])
        self.kept(second, "allow")
        self.ran("made-too")

    def test_nobody_at_a_screen(self):
        """The dialog stays open, and its answer counts."""
        terminal = self.dialog(attended=False)
        self.nothing_waits()
        self.assertIn("Do you want to proceed?", terminal.screen)
        self.choose(terminal, "Yes")
        self.ran()


class ClaudeServerTests(AgentTests):
    """`alertq mcp`, added as the article says."""

    def setUp(self):
        super().setUp()
        self.model.play("ask", call("mcp__alertq__ask", title="Deploy?"))

    def reasons(self):
        messages = self.world.sent("notifications/cancelled")
        return [message["params"].get("reason") for message in messages]

    def cancelled(self):
        self.assertTrue(eventually(self.reasons, 30), "the agent has cancelled its call")
        return self.reasons()

    def test_needs_permission(self):
        self.world.add_server("claude")
        self.world.finish(self.world.claude("ask"))
        self.told("ask", "haven't granted")
        self.assertEqual(self.world.sent("tools/call"), [])
        agent = self.world.claude("ask", "--allowedTools", "mcp__alertq")
        self.answered("yes")
        self.world.finish(agent)
        self.told("ask", '"by":"person"')

    def test_hook_leaves_it_alone(self):
        """Otherwise people are asked whether they may be asked."""
        self.world.add_server("claude")
        for event in ("PermissionRequest", "PreToolUse"):
            with self.subTest(event=event):
                self.world.hook("claude", event)
                agent = self.world.claude("ask", "--allowedTools", "mcp__alertq")
                question = self.answered("yes")
                self.assertEqual(question["title"], "Deploy?")
                self.world.finish(agent)

    def test_deadline_of_the_agent(self):
        self.world.add_server("claude", "--wait", "30s")
        agent = self.world.claude(
            "ask", "--allowedTools", "mcp__alertq", MCP_TOOL_TIMEOUT="3000")
        question = self.asked()
        self.world.finish(agent)
        self.assertEqual(self.cancelled(), ["SdkError: Request timed out"])
        self.kept(question)

    def test_short_wait(self):
        """`--wait` below the agent's limit: the model goes on with `collect`."""
        self.world.add_server("claude", "--wait", "2s")
        collect = lambda results: call(
            "mcp__alertq__collect", id=int(re.search(r'"id": ?(\d+)', results[-1]).group(1)))
        self.model.play("ask", call("mcp__alertq__ask", title="Deploy?"), collect, collect, collect)
        agent = self.world.claude(
            "ask", "--allowedTools", "mcp__alertq",
            MCP_TOOL_TIMEOUT="4000")
        question = self.asked()
        eventually(lambda: len(self.world.sent("tools/call")) >= 2)
        self.assertEqual(self.world.answer(question, "yes"), 0)
        self.world.finish(agent)
        self.assertEqual(self.reasons(), [])
        self.assertTrue(any('"outcome":"answered"' in text for text in self.model.returned("ask")))

    def test_cancelled_by_a_person(self):
        """In its terminal, without tasks."""
        self.world.add_server("claude", "--wait", "60s")
        self.world.environment["CLAUDE_CODE_DISABLE_MCP_TASKS"] = "1"
        for key in ("Escape", "C-c"):
            with self.subTest(key=key):
                terminal = self.world.claude_terminal("--allowedTools", "mcp__alertq")
                self.world.prompt(terminal, "ask")
                question = self.asked()
                terminal.type(key)
                self.assertEqual(self.cancelled(), ["AbortError: user-cancel"])
                self.withdrawn(question)
                terminal.close()
                self.world.log.unlink()

    def test_cancelled_by_the_program_that_runs_the_agent(self):
        """As its SDK's `interrupt()` does."""
        self.world.add_server("claude", "--wait", "60s")
        agent = self.world.start(
            "claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json",
            "--verbose", "--allowedTools", "mcp__alertq", takes_input=True)

        def send(message):
            agent.stdin.write(json.dumps(message) + "\n")
            agent.stdin.flush()

        send({"type": "user", "message": {"role": "user", "content": "Do it. [play ask]"}})
        question = self.asked()
        interrupt = {"subtype": "interrupt"}
        send({"type": "control_request", "request_id": "1", "request": interrupt})
        self.assertEqual(self.cancelled(), ["AbortError: remote-cancel"])
        self.withdrawn(question)

    def test_task(self):
        """In its terminal, the agent goes on, and is told the answer when there is one."""
        self.world.add_server("claude")
        terminal = self.world.claude_terminal("--allowedTools", "mcp__alertq")
        self.world.prompt(terminal, "ask")
        question = self.asked()
        self.assertTrue(terminal.shows("1 MCP task still running"), terminal.screen)
        self.assertEqual(self.world.answer(question, "yes"), 0)
        self.assertTrue(terminal.shows("(alertq/ask) completed"), terminal.screen)

    def test_task_stopped_by_a_person(self):
        self.world.add_server("claude")
        terminal = self.world.claude_terminal("--allowedTools", "mcp__alertq")
        self.world.prompt(terminal, "ask")
        question = self.asked()
        self.assertTrue(terminal.shows("1 MCP task still running"), terminal.screen)
        terminal.type("Down")
        self.assertTrue(terminal.shows("enter to view tasks"), terminal.screen)
        terminal.type("Enter")
        self.assertTrue(terminal.shows("x to stop"), terminal.screen)
        terminal.type("x")
        self.withdrawn(question)

    def test_task_stopped_by_the_model(self):
        stop = lambda results: call(
            "TaskStop", task_id=re.search(r'task_id "(\w+)"', results[-1]).group(1))
        self.model.play("ask", call("mcp__alertq__ask", title="Deploy?"), stop)
        self.world.add_server("claude")
        terminal = self.world.claude_terminal("--allowedTools", "mcp__alertq")
        self.world.prompt(terminal, "ask")
        self.assertTrue(eventually(lambda: self.world.sent("tasks/cancel")), terminal.screen)
        ended = eventually(lambda: self.world.alerts("history"), 20)
        self.assertTrue(ended)
        self.withdrawn(ended[0])

    def test_session_ends(self):
        """The question stays when the agent has gone, and the next session joins it."""
        self.world.add_server("claude", "--wait", "60s")
        words = ("--allowedTools", "mcp__alertq")
        agent = self.world.claude("ask", *words)
        question = self.asked()
        agent.send_signal(signal.SIGTERM)
        self.world.finish(agent)
        agent = self.world.claude("ask", *words)
        eventually(lambda: len(self.world.sent("tools/call")) == 2)
        self.kept(question)
        self.world.finish(agent)
        self.told("ask", f'"id":{question["id"]},')


class CodexHookTests(AgentTests):
    def setUp(self):
        super().setUp()
        self.model.play("inside", call("exec_command", cmd="touch made"))
        self.outside = self.world.home / "made-outside"
        for script in ("outside", "again"):
            self.model.play(script, escalated(f"touch {self.outside}"))

    def test_before_each_use(self):
        self.world.hook("codex", "PreToolUse")
        self.world.attend()
        for button in ("deny", "allow"):
            with self.subTest(button=button):
                agent = self.world.codex("inside")
                question = self.answered(button)
                self.assertIn("touch made", question["message"])
                self.world.finish(agent)
                self.assertEqual(self.world.made("made"), button == "allow")
                if button == "deny":
                    self.told("inside", "denied by a person")
                    self.assertNotIn("has failed", self.model.returned("inside")[-1])

    def test_nobody_at_a_screen(self):
        self.world.hook(
            "codex", "PreToolUse", change=lambda command: command.replace(
                "--only-person", "--only-person --wait 3s"))
        self.world.finish(self.world.codex("inside"), 45)
        self.did_not_run()
        self.told("inside", "nobody")
        self.assertNotIn("has failed", self.model.returned("inside")[-1])

    def test_untrusted_hook_is_not_run(self):
        """Nor does Codex say so: the command runs."""
        self.world.hook("codex", "PreToolUse", tapped="PreToolUse")
        output = self.world.run("codex", "exec", "--skip-git-repo-check", "Do it. [play inside]")
        self.ran()
        self.assertEqual(self.world.taps(), [])
        self.assertNotIn("trust", output.stdout + output.stderr)

    def test_trusted_hook_runs_until_it_changes(self):
        self.world.hook("codex", "PreToolUse", tapped="PreToolUse")
        self.world.attend()
        terminal = self.world.terminal("codex")
        self.assertTrue(terminal.shows("Hooks need review", "2. Trust all and continue"))
        terminal.type("2", "Enter")
        self.assertTrue(terminal.shows("› Ask Codex"), terminal.screen)
        terminal.close()
        words = ("codex", "exec", "--skip-git-repo-check", "Do it. [play inside]")
        agent = self.world.start(*words)
        self.answered("deny")
        self.world.finish(agent)
        self.did_not_run()
        self.world.hook("codex", "PreToolUse", change=lambda command: "tap env " + command)
        self.world.log.unlink()
        output = self.world.run(*words)
        self.ran()
        self.assertEqual(self.world.taps(), [])
        self.assertNotIn("trust", output.stdout + output.stderr)

    def test_exec_asks_for_no_permission(self):
        """Whatever policy is configured, `exec` has the policy `never`."""
        self.world.hook("codex", tapped="PermissionRequest")
        self.world.attend()
        self.world.finish(self.world.codex("outside", "-c", 'approval_policy="on-request"'))
        self.assertEqual(self.world.taps(), [])
        self.told("outside", "approval policy is Never")
        self.assertFalse(self.outside.exists())

    def test_hook_that_takes_too_long(self):
        """Codex goes on without it: hence `--wait` is shorter than the hook's `timeout`."""
        self.world.hook("codex", "PreToolUse", seconds=2)
        self.world.attend()
        agent = self.world.codex("inside")
        question = self.asked()
        self.world.finish(agent)
        self.ran()
        self.withdrawn(question)

    def test_exec_interrupted(self):
        self.world.hook("codex", "PreToolUse")
        self.world.attend()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number.name):
                agent = self.world.codex("inside")
                question = self.asked()
                agent.send_signal(number)
                self.withdrawn(question)
                self.world.finish(agent)
                self.did_not_run()

    def test_alertq_is_missing(self):
        (self.world.bin / "alertq").unlink()
        self.world.hook("codex", "PreToolUse")
        self.world.finish(self.world.codex("inside"))
        self.did_not_run()
        self.told("inside", "alertq")

    # MARK: - In a terminal, where Codex runs its hook before it asks itself

    def waiting(self):
        self.world.hook("codex")
        self.world.attend()
        terminal = self.world.codex_terminal()
        self.world.prompt(terminal, "outside")
        return terminal, self.asked()

    def test_answers_in_a_terminal(self):
        terminal, question = self.waiting()
        self.assertEqual(self.world.answer(question, "allow"), 0)
        self.assertTrue(eventually(self.outside.exists))
        self.outside.unlink()
        self.world.prompt(terminal, "again")
        self.answered("deny")
        self.assertTrue(eventually(lambda: self.model.returned("again")))
        self.told("again", "denied by a person")
        self.assertFalse(self.outside.exists())

    def test_patches_are_readable(self):
        lines = "*** Add File: ../notes.txt\n+first line\n+last line"
        patch = f"*** Begin Patch\n{lines}\n*** End Patch"
        self.model.play("outside", call("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF"))
        terminal, question = self.waiting()
        self.assertIn("notes.txt", question["title"])
        self.assertRegex(question["message"], r"(?m)^\+ ?first line\n\+ ?last line$")
        self.assertEqual(self.world.answer(question, "allow"), 0)
        self.assertTrue(eventually((self.world.home / "notes.txt").exists), terminal.screen)

    def test_interrupted(self):
        """Codex kills its hook, and tells another one."""
        for key in ("Escape", "C-c"):
            with self.subTest(key=key):
                terminal, question = self.waiting()
                terminal.type(key)
                self.withdrawn(question)
                self.assertFalse(self.outside.exists())
                terminal.close()

    def test_terminal_closed(self):
        terminal, question = self.waiting()
        terminal.close()
        self.withdrawn(question)

    def test_nobody_at_a_screen_but_there(self):
        self.world.hook("codex")
        terminal = self.world.codex_terminal()
        self.world.prompt(terminal, "outside")
        self.assertTrue(terminal.shows("Would you like to run the following command?"))
        self.nothing_waits()
        terminal.type("y")
        self.assertTrue(eventually(self.outside.exists))


class CodexServerTests(AgentTests):
    """`alertq mcp`, added as the article says."""

    def setUp(self):
        super().setUp()
        self.model.play("ask", call("ask", namespace="mcp__alertq", title="Deploy?"))

    def add(self, *more, options=(), without=None):
        """What the article says, or all of it but one line; with lines of one's own."""
        lines = self.world.add_server("codex", *options)
        self.configure(*more, *(line for line in lines if not without or without not in line))

    def configure(self, *lines):
        path = self.world.home / ".codex/config.toml"
        table = "[mcp_servers.alertq]\n"
        settings = path.read_text().replace(table, table + "".join(f"{line}\n" for line in lines))
        path.write_text(settings)

    def kept_silently(self, question):
        self.assertEqual(self.world.sent("notifications/cancelled"), [])
        self.kept(question)

    def test_needs_permission(self):
        self.add(without="approval")
        self.world.finish(self.world.codex("ask"))
        self.told("ask", "requires approval, but approval policy is never")
        self.nothing_waits()
        self.world.run("codex", "mcp", "remove", "alertq")
        self.add()
        agent = self.world.codex("ask")
        self.answered("yes")
        self.world.finish(agent)
        self.told("ask", '"by":"person"')

    def test_hook_leaves_it_alone(self):
        """Codex asks for no permission for a server whose tools are approved."""
        self.add()
        self.world.hook("codex")
        terminal = self.world.codex_terminal()
        self.world.prompt(terminal, "ask")
        question = self.answered("yes")
        self.assertEqual(question["title"], "Deploy?")

    def test_queue_of_the_environment(self):
        for line, database in {"approval": str(self.world.database), "env_vars": None}.items():
            with self.subTest(without=line):
                self.add(without=line)
                self.model.play("nothing", "Done.")
                self.world.finish(self.world.codex("nothing"))
                starts = self.world.taps("start")
                self.assertEqual([start["database"] for start in starts], [database])
                self.world.run("codex", "mcp", "remove", "alertq")
                self.world.log.unlink()

    def test_deadline_of_the_agent(self):
        self.add("tool_timeout_sec = 3", options=("--wait", "30s"))
        self.model.play(
            "ask", call("ask", namespace="mcp__alertq", title="Deploy?"),
            call("exec_command", cmd="sleep 2"))
        agent = self.world.codex("ask")
        question = self.asked()
        self.world.finish(agent)
        self.assertIn("timed out awaiting tools/call after 3s", self.model.returned("ask")[0])
        self.kept_silently(question)

    def test_interrupted_by_a_person(self):
        """Codex says nothing to the server, so the question stays."""
        self.add(options=("--wait", "60s"))
        terminal = self.world.codex_terminal()
        self.world.prompt(terminal, "ask")
        question = self.asked()
        terminal.type("Escape")
        self.assertTrue(eventually(lambda: "esc to interrupt" not in terminal.screen))
        self.kept_silently(question)


class Result(unittest.TextTestResult):
    """A line for each test, which names it and says how it ended."""

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self.start, self.failed = time.monotonic(), False

    def addFailure(self, test, error):
        self.failed = True
        unittest.TestResult.addFailure(self, test, error)

    def addError(self, test, error):
        self.failed = True
        unittest.TestResult.addError(self, test, error)

    def addSubTest(self, test, subtest, error):
        self.failed = self.failed or error is not None
        unittest.TestResult.addSubTest(self, test, subtest, error)

    def stopTest(self, test):
        word = "FAIL" if self.failed else "PASS"
        name = ".".join(test.id().split(".")[-2:])
        self.stream.writeln(f"{word} {name} ({time.monotonic() - self.start:.1f} s)")
        self.stream.flush()
        unittest.TestResult.stopTest(self, test)


if __name__ == "__main__":
    # Everything is cleaned up when the tests are stopped, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    unittest.main(testRunner=unittest.TextTestRunner(sys.stdout, verbosity=0, resultclass=Result))
