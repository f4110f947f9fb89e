"""The official Python SDK as the client of a server: `python_mcp.py COMMAND ARGS...`. Prints the results as one JSON object."""

import asyncio
import json
import sys

import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with mcp.Client(stdio_client(server)) as client:
        progress = []

        async def step(progress_so_far, total, message):
            progress.append(progress_so_far)

        async def unknown():
            try:
                return (await client.call_tool("no_such_tool", {})).is_error
            except mcp.MCPError as error:
                return error.error.code

        tools = (await client.list_tools()).tools
        await client.call_tool("test_tool_with_progress", {}, progress_callback=step)
        failed = await client.call_tool("fail", {})
        print(json.dumps({
            "tools": [tool.name for tool in tools],
            "echo": (await client.call_tool("echo", {"message": "hi"})).structured_content,
            "image": (await client.call_tool("test_image_content", {})).content[0].mime_type,
            "failed": {"isError": failed.is_error, "content": [{"text": block.text} for block in failed.content]},
            "unknown": await unknown(),
            "progress": progress,
        }))


asyncio.run(main())
