"""Tests of `alertq mcp` with FastMCP as the client."""

import asyncio
import contextlib
import unittest

from agent_tests import ALERTQ, MainJob, QueueTests
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


class Agent:
    def __init__(self, client):
        self.client = client

    async def call(self, tool, arguments):
        return (await self.client.call_tool(tool, arguments)).structured_content

    async def cancel(self, question, condition):
        call = asyncio.create_task(self.client.call_tool("ask", question))
        await condition()
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call


class FastMCPTests(MainJob, QueueTests):
    source = "mcp:fastmcp_tests.py"

    @contextlib.asynccontextmanager
    async def agent(self, *options):
        transport = StdioTransport(ALERTQ, self.server(*options), keep_alive=False)
        async with Client(transport) as client:
            yield Agent(client)


if __name__ == "__main__":
    unittest.main(verbosity=2)
