"""What the tests of real agents share: a home, a faked model, a queue, terminals, and people."""

import atexit
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

from fake_model import FakeModel

ALERTQ = os.environ["ALERTQ"]
CLAUDE = os.environ["CLAUDE"]
CODEX = os.environ["CODEX"]
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Not a secret: the model that takes it is on loopback.
KEY = "sk-ant-api03-faked-for-a-model-on-loopback"


def eventually(condition, seconds=60):
    """Waits until a condition returns something, which it returns; agents are slow to start."""
    limit = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        if time.monotonic() > limit:
            return found
        time.sleep(0.1)


class Terminal:
    """A program in a terminal, which is seen and typed into as a person does."""

    def __init__(self, world, name, command, environment, folder):
        self.socket = str(world.folder / f"{name}.tmux")
        # Without a login shell and a person's configuration.
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "50", "-c", str(folder),
            *[word for pair in environment.items() for word in ("-e", "=".join(pair))],
            *command, environment=environment,
        )

    def tmux(self, *words, environment=None):
        return subprocess.run(
            ["tmux", "-S", self.socket, *words], capture_output=True, text=True, env=environment
        ).stdout

    @property
    def screen(self):
        return self.tmux("capture-pane", "-p", "-J")

    def shows(self, *texts, seconds=60):
        """Whether all of the texts are on the screen at once."""
        return eventually(lambda: all(text in self.screen for text in texts), seconds)

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def close(self):
        self.tmux("kill-server")


class World:
    """A home with both agents, and a queue; everything is gone when it is closed."""

    def __init__(self):
        self.cleanup = contextlib.ExitStack()
        atexit.register(self.close)
        folder = tempfile.TemporaryDirectory(prefix="agents-", dir="/var/tmp")
        self.folder = pathlib.Path(self.cleanup.enter_context(folder))
        self.cleanup.callback(self.end_processes)
        self.home = self.folder / "home"
        self.project = self.home / "project"
        self.bin = self.folder / "bin"
        self.database = self.folder / "queue.db"
        self.log = self.folder / "tap.jsonl"
        for folder in (self.project, self.bin, self.folder / "tmp", self.home / ".claude"):
            folder.mkdir(parents=True)
        (self.home / ".codex").mkdir()
        for name, path in {"alertq": ALERTQ, "claude": CLAUDE, "codex": CODEX}.items():
            (self.bin / name).symlink_to(path)
        # "tap COMMAND" writes down how an agent treats COMMAND.
        tap = self.bin / "tap"
        tap.write_text(f'#!/bin/sh\nexec {sys.executable} -B {HERE}/tap.py {self.log} "$@"\n')
        tap.chmod(0o755)
        self.model = FakeModel()
        self.cleanup.callback(self.model.server.shutdown)
        self.terminals = 0
        self.environment = {
            "HOME": str(self.home), "USER": "ana", "LANG": "C.UTF-8", "SHELL": "/bin/sh",
            "TERM": "xterm-256color", "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            # Codex refuses a home in the folder for temporary files, in which it may write.
            "TMPDIR": str(self.folder / "tmp"), "ALERTQ_DATABASE": str(self.database),
            "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            # Root may use every permission mode.
            "IS_SANDBOX": "1", "OPENAI_API_KEY": "sk-faked",
        }
        self.claude_settings = {"hasCompletedOnboarding": True, "theme": "dark"}
        self.claude_settings["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
        self.claude_settings["projects"] = {str(self.project): {"hasTrustDialogAccepted": True}}
        self.write(".claude.json", self.claude_settings)
        self.configure_codex()

    def close(self):
        """Ends everything, and removes it; called again, it does nothing."""
        atexit.unregister(self.close)
        self.cleanup.close()

    def processes(self):
        """Everything that has been started in this world, however it was detached."""
        mark = f"HOME={self.home}".encode()
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    yield int(path.parent.name)

    def end_processes(self):
        def ended():
            found = list(self.processes())
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not found

        eventually(ended, 20)

    def write(self, name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (self.home / name).write_text(text)

    # MARK: - Agents

    @staticmethod
    def documented(agent, event="PermissionRequest"):
        """The hooks that the article recommends; another event in place of the one that asks."""
        article = (ROOT / "Sources/AlertQueue/AlertQueue.docc/PermissionHooks.md").read_text()
        title = {"claude": "Claude Code", "codex": "Codex"}[agent]
        text = re.search(rf"^### {title}\n.*?```json\n(.*?)```", article, re.S | re.M).group(1)
        hooks = json.loads(text)["hooks"]
        return {event if name == "PermissionRequest" else name: hooks[name] for name in hooks}

    def add_server(self, agent, *options):
        """Runs the command with which the article adds the server, whose messages are noted."""
        article = (ROOT / "Sources/AlertQueue/AlertQueue.docc/Agents.md").read_text()
        words = re.search(rf"^{agent} mcp add .*", article, re.M).group().split()
        start = words.index("--") + 1
        result = self.run(*words[:start], "tap", *words[start:], *options)
        assert result.returncode == 0, result.stdout + result.stderr
        return re.search(r"```toml\n.*?\n(env_vars.*?)```", article, re.S).group(1).splitlines()

    def sent(self, method):
        """The messages of one method that an agent has sent to the server."""
        lines = "".join(line["in"] for line in self.taps("in")).splitlines()
        messages = [json.loads(line) for line in lines]
        return [message for message in messages if message.get("method") == method]

    def hook(
        self, agent, event="PermissionRequest", seconds=None, change=lambda command: command,
        tapped=None,
    ):
        """Configures what the article recommends.

        `seconds` is how long the agent waits for the hook of `event`, and `change` changes its
        command; what happens to the hook of the event `tapped` is noted.
        """
        hooks = self.documented(agent, event)
        handler = hooks[event][0]["hooks"][0]
        handler["command"] = change(handler["command"])
        handler["timeout"] = seconds or handler["timeout"]
        if tapped:
            handler = hooks[tapped][0]["hooks"][0]
            handler["command"] = "tap " + handler["command"]
        name = ".claude/settings.json" if agent == "claude" else ".codex/hooks.json"
        self.write(name, {"hooks": hooks})

    def configure_codex(self, more=""):
        self.write(".codex/config.toml", f"""
model = "faked"
model_provider = "faked"
check_for_update_on_startup = false
{more}
[model_providers.faked]
name = "faked"
base_url = "{self.model.url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[analytics]
enabled = false
[projects."{self.project}"]
trust_level = "trusted"
""")

    def run(self, *command, seconds=120, **environment):
        """Runs a program in the project to its end, without a terminal."""
        return subprocess.run(
            command, cwd=self.project, env=self.environment | environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
        )

    def start(self, *command, takes_input=False, **environment):
        child = subprocess.Popen(
            command, cwd=self.project, env=self.environment | environment, text=True,
            stdin=subprocess.PIPE if takes_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        self.cleanup.callback(self.stop, child)
        return child

    @staticmethod
    def stop(child):
        child.kill()
        child.wait()

    def terminal(self, *command):
        self.terminals += 1
        terminal = Terminal(self, str(self.terminals), command, self.environment, self.project)
        self.cleanup.callback(terminal.close)
        return terminal

    def claude(self, script, *words, mode="default", **environment):
        """Starts Claude Code without a terminal, with a prompt that names a script."""
        prompt = f"Do it. [play {script}]"
        return self.start(
            "claude", "-p", prompt, "--permission-mode", mode, *words, **environment)

    def codex(self, script, *words):
        """Starts Codex without a terminal, with the hooks' configuration trusted for this once."""
        return self.start(
            "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *words,
            f"Do it. [play {script}]",
        )

    def claude_terminal(self, *words, mode="default"):
        terminal = self.terminal("claude", "--permission-mode", mode, *words)
        terminal.shows("❯")
        return terminal

    def codex_terminal(self, *words):
        """In its terminal, Codex asks before it leaves its sandbox."""
        terminal = self.terminal(
            "codex", "--dangerously-bypass-hook-trust", "-c", 'approval_policy="on-request"',
            "-c", 'sandbox_mode="workspace-write"', *words,
        )
        terminal.shows("› Ask Codex")
        return terminal

    def prompt(self, terminal, script):
        """Types a prompt, and returns once the agent has asked its model."""
        self.model.seen.pop(script, None)
        text = f"Do it. [play {script}]"
        terminal.type("-l", text)
        terminal.shows(text)
        # Agents ignore keys until they are ready, and take fast ones for pasted text.
        for _ in range(10):
            terminal.type("Enter")
            if eventually(lambda: script in self.model.seen, 4):
                return
        raise AssertionError(f"the agent took no prompt:\n{terminal.screen}")

    @staticmethod
    def finish(child, seconds=90):
        """Waits until an agent has ended, and returns what it printed."""
        return child.communicate(timeout=seconds)[0]

    def made(self, name):
        return (self.project / name).exists()

    def taps(self, *members):
        """What taps have written down, or the lines with one of the members."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if not members or any(name in line for name in members)]

    # MARK: - The queue

    def alertq(self, *words):
        return self.run("alertq", *words)

    def alerts(self, verb="list", *words):
        lines = self.alertq(verb, *words, "--json").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def question(self, count=1, seconds=60):
        """The newest of as many questions as wait."""
        found = eventually(lambda: len(waiting := self.alerts()) == count and waiting, seconds)
        return max(found, key=lambda alert: alert["id"]) if found else None

    def ended(self, alert, seconds=30):
        """The alert once it has a response, or `None`."""
        show = lambda: self.alerts("show", str(alert["id"]))[0]
        return eventually(lambda: (now := show()).get("outcome") and now, seconds)

    def attend(self):
        """Somebody sits at a screen."""
        screen = self.terminal("alertq", "present")
        screen.shows("alertq", seconds=20)
        return screen

    def answer(self, alert, button):
        """A person answers, in the foreground of a terminal; returns the exit code."""
        pid, terminal = pty.fork()
        if pid == 0:
            words = ["alertq", "answer", str(alert["id"]), button]
            os.execve(ALERTQ, words, self.environment)
        with contextlib.suppress(OSError):
            while os.read(terminal, 4096):
                pass
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
