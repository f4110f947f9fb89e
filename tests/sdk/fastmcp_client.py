"""fastmcp as the client of a server: `fastmcp_client.py COMMAND ARGS...`. Prints the results as one JSON object."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError


async def main():
    async with Client(StdioTransport(command=sys.argv[1], args=sys.argv[2:])) as client:
        try:
            failed = str(await client.call_tool("fail", {}))
        except ToolError as error:
            failed = str(error)
        print(json.dumps({
            "tools": [tool.name for tool in await client.list_tools()],
            "echo": (await client.call_tool("echo", {"message": "hi"})).structured_content,
            "image": (await client.call_tool("test_image_content", {})).content[0].mime_type,
            "failed": {"isError": True, "content": [{"text": failed}]},
        }))


asyncio.run(main())
