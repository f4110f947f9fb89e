"""The official Python SDK as the client of a guarded file server: `guarded.py CONFIGURATION PLACE [USER]`, as `guarded.mjs`."""

import asyncio
import json
import os
import sys

import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult

configuration, place, *user = sys.argv[1:]


async def decide(_context, _request):
    return ElicitResult(action="accept", content={"decision": user[0]})


async def main():
    server = StdioServerParameters(**json.loads(configuration), env=dict(os.environ))
    asks = {"elicitation_callback": decide} if user else {}
    async with mcp.Client(stdio_client(server), **asks) as client:
        got = []

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            got.append({"text": result.content[0].text, "isError": result.is_error is True})
            return result.content[0].text

        await call("list_directory", {"path": place})
        while "Repeat the call" in await call("write_file", {"path": f"{place}/old.txt", "content": "new"}):
            await asyncio.sleep(0.2)
        print(json.dumps(got))


asyncio.run(main())
