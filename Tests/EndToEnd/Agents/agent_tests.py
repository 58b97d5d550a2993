"""What the tests of `alertq mcp` share, whichever library their agents are built with."""

import asyncio
import contextlib
import json
import os
import pty
import subprocess
import tempfile
import time
import unittest

ALERTQ = os.environ["ALERTQ"]
QUESTION = {
    "title": "Deploy to production?",
    "buttons": [
        {"id": "deploy", "title": "Deploy"},
        {"id": "keep", "title": "Keep", "role": "cancel"},
    ],
}


async def eventually(condition, seconds=60):
    """Waits for a condition; on a busy machine, everything takes many times as long as usual."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        await asyncio.sleep(0.02)
    return False


class QueueTests(unittest.IsolatedAsyncioTestCase):
    """Tests with a queue of their own."""

    async def asyncSetUp(self):
        # It would report every callback that a busy machine delays.
        asyncio.get_running_loop().set_debug(False)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="alertq-mcp-")
        self.addCleanup(self.folder.cleanup)
        self.database = self.folder.name + "/queue.db"

    def server(self, *options):
        """The words after `alertq` that start a server of this queue."""
        return ["mcp", "--database", self.database, *options]

    def run_alertq(self, *words):
        return subprocess.run(
            [ALERTQ, *words, "--database", self.database], capture_output=True, text=True
        )

    def objects(self, *words):
        lines = self.run_alertq(*words, "--json").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def answer_as_person(self, *words):
        """Answers in the foreground of a terminal of its own."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(ALERTQ, [ALERTQ, "answer", *words, "--database", self.database])
        with contextlib.suppress(OSError):
            while os.read(terminal, 1024):
                pass
        os.close(terminal)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    async def waiting(self, count=1):
        self.assertTrue(await eventually(lambda: len(self.objects("list")) == count))


class MainJob:
    """What an agent is for, with any client: to be mixed into tests that have an `agent`.

    `agent(*options)` connects to a server with these options. What it returns has `call`, for a
    tool's result as an object, and `cancel`, which starts an `ask` and cancels it in between.
    """

    # Who the server takes the client for.
    source = None

    async def test_main_job(self):
        async with self.agent("--wait", "300ms") as agent:
            asked = await agent.call("ask", QUESTION)
            self.assertEqual(asked["state"], "waiting")
            self.assertIn("collect", asked["summary"])
            waited = await agent.call("collect", {"id": asked["id"]})
            self.assertEqual(waited["state"], "waiting")
        # Another process of the same program goes on.
        async with self.agent("--wait", "300ms") as agent:
            listed = await agent.call("list_mine", {})
            self.assertEqual([alert["id"] for alert in listed["alerts"]], [1])
            self.assertEqual(listed["alerts"][0]["source"], self.source)
            self.answer_as_person("1", "deploy")
            answers = await agent.call("list_mine", {})
            self.assertEqual(answers["alerts"][0]["outcome"], "answered")
            answer = await agent.call("collect", {"id": 1})
            self.assertEqual((answer["by"], answer["button"]), ("person", "deploy"))
            collected = lambda: self.objects("show", "1")[0]["collected_at"]
            self.assertTrue(await eventually(collected))
            self.assertEqual((await agent.call("list_mine", {}))["alerts"], [])

    async def test_cancel(self):
        async with self.agent("--wait", "30s") as agent:
            # Nothing tells a deadline of the program from a person's wish.
            await agent.cancel(QUESTION, self.waiting)
            call = asyncio.create_task(agent.call("collect", {"id": 1}))
            self.run_alertq("answer", "1", "keep")
            answer = await call
            self.assertEqual((answer["outcome"], answer["button"]), ("answered", "keep"))
        async with self.agent("--wait", "1ms") as agent:
            self.assertEqual((await agent.call("ask", QUESTION))["id"], 2)
            withdrawn = await agent.call("withdraw", {"id": 2})
            self.assertEqual(withdrawn["outcome"], "withdrawn")
