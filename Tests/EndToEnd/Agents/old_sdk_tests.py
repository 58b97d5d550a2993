"""Tests of `alertq mcp` with an old official Python SDK, which speaks 2024-11-05 alone."""

import asyncio
import contextlib
import json
import unittest

from agent_tests import ALERTQ, MainJob, QueueTests
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class Agent:
    def __init__(self, session):
        self.session = session

    async def call(self, tool, arguments):
        result = (await self.session.call_tool(tool, arguments)).model_dump()
        assert not result["isError"] and "structuredContent" not in result, result
        return json.loads(result["content"][1]["text"]) | {"summary": result["content"][0]["text"]}

    async def cancel(self, question, condition):
        call = asyncio.create_task(self.session.call_tool("ask", question))
        await condition()
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call


class OldSDKTests(MainJob, QueueTests):
    source = "mcp:old_sdk_tests.py"

    @contextlib.asynccontextmanager
    async def agent(self, *options):
        server = StdioServerParameters(command=ALERTQ, args=self.server(*options))
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            self.greeting = await session.initialize()
            yield Agent(session)

    async def test_revision(self):
        async with self.agent() as agent:
            self.assertEqual(self.greeting.protocolVersion, "2024-11-05")
            for tool in (await agent.session.list_tools()).tools:
                self.assertEqual(set(tool.model_dump()), {"name", "description", "inputSchema"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
