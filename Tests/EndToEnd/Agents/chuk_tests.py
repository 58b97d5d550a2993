"""Tests of `alertq mcp` with chuk-mcp, a client that shares no code with the official SDK."""

import asyncio
import contextlib
import json
import unittest

from agent_tests import ALERTQ, MainJob, QUESTION, QueueTests
from chuk_mcp.protocol.messages.send_message import (
    CancellationToken, CancelledError, send_message,
)
from chuk_mcp.transports.stdio.parameters import StdioParameters
from chuk_mcp.transports.stdio.stdio_client import stdio_client_with_initialize


class Agent:
    def __init__(self, streams, revision):
        self.streams = streams
        self.revision = revision

    async def call(self, tool, arguments, token=None):
        params = {"name": tool, "arguments": arguments}
        result = await send_message(
            *self.streams, "tools/call", params, cancellation_token=token
        )
        assert not result["isError"], result
        if self.revision >= "2025-06-18":
            return result["structuredContent"]
        assert "structuredContent" not in result, result
        return json.loads(result["content"][1]["text"]) | {"summary": result["content"][0]["text"]}

    async def cancel(self, question, condition):
        token = CancellationToken()
        call = asyncio.create_task(self.call("ask", question, token))
        await condition()
        token.cancel()
        with contextlib.suppress(CancelledError):
            await call


class ChukTests(MainJob, QueueTests):
    source = "mcp:chuk_tests.py"
    revision = "2025-06-18"

    @contextlib.asynccontextmanager
    async def agent(self, *options):
        server = StdioParameters(command=ALERTQ, args=self.server(*options))
        async with stdio_client_with_initialize(
            server, timeout=300, preferred_version=self.revision
        ) as (*streams, greeting):
            self.assertEqual(greeting.protocolVersion, self.revision)
            yield Agent(streams, self.revision)


class ChukOfMarchTests(ChukTests):
    """The same in the one revision that has batches."""

    revision = "2025-03-26"

    async def test_batch(self):
        async with self.agent("--wait", "300ms") as agent:
            reading, writing = agent.streams
            calls = [("ask", QUESTION), ("list_mine", {}), ("nothing", {})]
            batch = [
                {
                    "jsonrpc": "2.0", "id": f"batch-{index}", "method": "tools/call",
                    "params": {"name": tool, "arguments": arguments},
                }
                for index, (tool, arguments) in enumerate(calls)
            ]
            await writing.send(json.dumps(batch))
            replies = {}
            while len(replies) < len(batch):
                reply = await asyncio.wait_for(reading.receive(), 300)
                replies[reply.id] = reply
            self.assertIn("waiting", json.dumps(replies["batch-0"].result))
            self.assertFalse(replies["batch-1"].result["isError"])
            self.assertEqual(replies["batch-2"].error["code"], -32602)


if __name__ == "__main__":
    unittest.main(verbosity=2)
