"""Tests of `alertq mcp` with the official Python SDK as the client; started by .ci/mcp.

Each test runs in each way in which the SDK connects: `auto` finds out which revisions the server
speaks, `legacy` greets it with a handshake, and a revision's name uses that without asking.
"""

import asyncio
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
from typing import Literal

from agent_tests import ALERTQ, QUESTION, QueueTests, eventually
from mcp.client import Client
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Implementation, Request, RequestParams, Result

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODES = ["auto", "legacy", "2026-07-28"]


def children():
    """The processes that this one has started."""
    path = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return [int(pid) for pid in path.read_text().split()]


class SDKTests(QueueTests):
    def client(self, mode, *options, name="agent", **settings):
        parameters = StdioServerParameters(command=ALERTQ, args=self.server(*options))
        info = Implementation(name=name, version="1")
        return Client(stdio_client(parameters), mode=mode, client_info=info, **settings)

    async def each_mode(self, test):
        for mode in MODES:
            with self.subTest(mode=mode):
                self.setUp()
                await test(mode)

    async def test_tools(self):
        async def test(mode):
            async with self.client(mode) as agent:
                tools = (await agent.list_tools()).tools
                names = [tool.name for tool in tools]
                self.assertEqual(names, ["ask", "collect", "notify", "withdraw", "list_mine"])
                for tool in tools:
                    self.assertTrue(tool.description and tool.input_schema and tool.output_schema)
                version = "2025-11-25" if mode == "legacy" else "2026-07-28"
                self.assertEqual(agent.protocol_version, version)
                # A revision that is used without asking gets no instructions.
                if mode != "2026-07-28":
                    self.assertIn("You can't answer your own questions", agent.instructions)

        await self.each_mode(test)

    async def test_answer(self):
        async def test(mode):
            async with self.client(mode, name="claude-code") as agent:
                call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                await self.waiting()
                self.assertEqual(self.run_alertq("answer", "1", "deploy").returncode, 0)
                result = (await call).structured_content
                self.assertEqual(result["outcome"], "answered")
                self.assertEqual(result["button"], "deploy")
                self.assertEqual(result["source"], "mcp:claude-code")
                collected = lambda: self.objects("show", "1")[0]["collected_at"]
                self.assertTrue(await eventually(collected))

        await self.each_mode(test)

    async def test_wait_in_small_steps(self):
        seconds = 600 if os.environ.get("ALERTQ_LONG") else 3

        async def test(mode):
            wait = "45s" if seconds == 600 else "500ms"
            start = time.monotonic()
            async with self.client(mode, "--wait", wait) as agent:
                heard = []

                async def hear(progress, total, message):
                    heard.append((progress, total, message))

                first = await agent.call_tool("ask", QUESTION, progress_callback=hear)
                self.assertEqual(first.structured_content["state"], "waiting")
                self.assertEqual(heard[0][0], 0)
                self.assertIn("waits for an answer", heard[0][2])
                while time.monotonic() < start + seconds:
                    result = await agent.call_tool("collect", {"id": 1})
                    self.assertEqual(result.structured_content["state"], "waiting")
                self.run_alertq("answer", "1", "keep")
                result = await agent.call_tool("collect", {"id": 1})
                self.assertEqual(result.structured_content["button"], "keep")

        await self.each_mode(test)

    async def test_client_times_out(self):
        async def test(mode):
            async with self.client(mode) as agent:
                with self.assertRaises(MCPError):
                    await agent.call_tool("ask", QUESTION, read_timeout_seconds=1)
                await agent.list_tools()
                await self.waiting()
                self.run_alertq("answer", "1", "deploy")
                result = await agent.call_tool("ask", QUESTION)
                self.assertEqual(result.structured_content["id"], 1)
                self.assertEqual(result.structured_content["button"], "deploy")

        await self.each_mode(test)

    async def test_cancel(self):
        async def test(mode):
            async with self.client(mode) as agent:
                call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                await self.waiting()
                call.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await call
                # The SDK says the same for a deadline, so the question stays.
                self.run_alertq("answer", "1", "deploy")
                result = await agent.call_tool("ask", QUESTION)
                self.assertEqual(result.structured_content["id"], 1)

        await self.each_mode(test)

    async def test_ends(self):
        async def test(mode):
            async with self.client(mode) as agent:
                soon = {**QUESTION, "timeout": "300ms"}
                expired = await agent.call_tool("ask", soon)
                self.assertEqual(expired.structured_content["outcome"], "expired")
                self.assertIsNone(expired.structured_content["button"])
                call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                await self.waiting()
                self.run_alertq("withdraw", "2")
                self.assertEqual((await call).structured_content["outcome"], "withdrawn")
                wrong = await agent.call_tool("ask", {"titel": "x"})
                self.assertTrue(wrong.is_error)
                with self.assertRaises(MCPError):
                    await agent.call_tool("answer", {"id": 1, "button": "yes"})
                notice = await agent.call_tool("notify", {"title": "Done"})
                self.assertEqual(notice.structured_content["id"], 3)
                mine = await agent.call_tool("list_mine")
                self.assertEqual(len(mine.structured_content["alerts"]), 1)

        await self.each_mode(test)

    async def test_two_agents(self):
        async def test(mode):
            async with self.client(mode, name="one") as one, self.client(mode, name="two") as two:
                calls = [
                    asyncio.create_task(agent.call_tool("ask", QUESTION)) for agent in (one, two)
                ]
                await self.waiting(2)
                for alert in self.objects("list"):
                    button = "deploy" if alert["source"] == "mcp:one" else "keep"
                    self.run_alertq("answer", str(alert["id"]), button)
                results = [(await call).structured_content for call in calls]
                self.assertEqual([result["button"] for result in results], ["deploy", "keep"])
                other = await two.call_tool("collect", {"id": results[0]["id"]})
                self.assertTrue(other.is_error)

        await self.each_mode(test)

    async def test_server_killed(self):
        async def test(mode):
            before = set(children())
            with contextlib.suppress(Exception):
                async with self.client(mode) as agent:
                    call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                    await self.waiting()
                    for pid in set(children()) - before:
                        os.kill(pid, signal.SIGKILL)
                    with self.assertRaises(MCPError):
                        await call
            async with self.client(mode) as agent:
                call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                self.run_alertq("answer", "1", "deploy")
                self.assertEqual((await call).structured_content["id"], 1)
            self.assertEqual(len(self.objects("history")), 1)

        await self.each_mode(test)

    async def test_client_killed(self):
        async def test(mode):
            program = f"""
import asyncio, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import sdk_tests
async def main():
    test = sdk_tests.SDKTests()
    test.database = {self.database!r}
    async with test.client({mode!r}) as agent:
        await agent.call_tool("ask", sdk_tests.QUESTION)
asyncio.run(main())
"""
            child = subprocess.Popen([sys.executable, "-B", "-c", program])
            self.addCleanup(child.kill)
            await self.waiting()
            child.kill()
            child.wait()
            servers = lambda: subprocess.run(
                ["pgrep", "-f", f"mcp --database {self.database}"], capture_output=True
            ).stdout
            self.assertTrue(await eventually(lambda: not servers()))
            await self.waiting()
            self.run_alertq("answer", "1", "deploy")
            async with self.client(mode) as agent:
                result = await agent.call_tool("ask", QUESTION)
                self.assertEqual(result.structured_content["button"], "deploy")

        await self.each_mode(test)

    async def test_task(self):
        class Task(Result):
            result_type: Literal["task"] = "task"
            task_id: str

        class TaskState(Result):
            status: str
            result: CallToolResult | None = None

        class TaskParams(RequestParams):
            task_id: str

        class GetTask(Request[TaskParams, str]):
            method: str = "tasks/get"
            params: TaskParams

        seen = []

        async def resolve(task, context):
            while True:
                request = GetTask(params=TaskParams(task_id=task.task_id))
                state = await context.session.send_request(request, TaskState)
                seen.append(state.status)
                if state.result is not None:
                    return state.result
                await asyncio.sleep(0.1)

        class Tasks(ClientExtension):
            identifier = "io.modelcontextprotocol/tasks"

            def claims(self):
                return [ResultClaim(result_type="task", model=Task, resolve=resolve)]

        for mode in ["auto", "2026-07-28"]:
            with self.subTest(mode=mode):
                self.setUp()
                seen.clear()
                async with self.client(mode, extensions=[Tasks()]) as agent:
                    call = asyncio.create_task(agent.call_tool("ask", QUESTION))
                    await self.waiting()
                    self.assertTrue(await eventually(lambda: seen))
                    self.run_alertq("answer", "1", "deploy")
                    result = (await call).structured_content
                    self.assertEqual(result["button"], "deploy")
                    self.assertEqual((seen[0], seen[-1]), ("working", "completed"))

    async def test_article(self):
        """The agent in the article asks before it deploys, and takes only a person's yes."""
        article = (ROOT / "Sources/AlertQueue/AlertQueue.docc/Agents.md").read_text()
        program = re.search(r"```python\n(.*?)```", article, re.S).group(1)
        folder = self.folder.name + "/bin"
        os.mkdir(folder)
        os.symlink(ALERTQ, folder + "/alertq")
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        environment["ALERTQ_DATABASE"] = self.database

        async def output(answer):
            child = subprocess.Popen(
                [sys.executable, "-B", "-c", program],
                env=environment, stdout=subprocess.PIPE, text=True,
            )
            # Before its directory is removed.
            self.addCleanup(child.kill)
            await self.waiting()
            answer(str(self.objects("list")[0]["id"]))
            return (await asyncio.to_thread(child.communicate))[0]

        def run(*words):
            return output(lambda id: self.run_alertq(words[0], id, *words[1:]))

        yes = await output(lambda id: self.answer_as_person(id, "deploy"))
        self.assertEqual(yes, "deploying\n")
        no = await output(lambda id: self.answer_as_person(id, "keep"))
        self.assertIn("not deploying: Denied by a person", no)
        self.assertIn("not deploying: A program, not a person", await run("answer", "deploy"))
        self.assertIn("not deploying: It was withdrawn", await run("withdraw"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
