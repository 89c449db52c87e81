"""`python client.py SERVER`: what a user of the Python client 1.9.4 (revision 2025-03-26) does, and prints what came back as JSON.

SERVER: an address, or JSON with the command to start, its arguments and variables.
"""
import asyncio
import json
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def code(work):
    try:
        return {"result": str(await work)}
    except McpError as error:
        return error.error.code


async def main(server: str) -> None:
    is_url = server.startswith("http")
    streams = streamablehttp_client(server) if is_url else stdio_client(StdioServerParameters(**json.loads(server)))
    async with streams as (read, write, *_):
        async with ClientSession(read, write) as client:
            await client.initialize()
            tools = await client.list_tools()
            user = await client.call_tool("get-user", {"id": 42})
            total = await client.call_tool("add", {"a": 2, "b": 40})
            invalid = await client.call_tool("get-user", {"id": "x"})
            unknown = await code(client.call_tool("no-such-tool", {}))
            prompts = await client.list_prompts()
            prompt = await client.get_prompt("review-order", {"order_id": "7"})
            resources = await client.list_resources()
            resource = await client.read_resource("shop://guide")
            missing = await code(client.read_resource("shop://nothing"))
    text = lambda result: [block.text for block in result.content]
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools.tools],
                "user": text(user),
                "sum": text(total),
                "invalid": {"isError": invalid.isError, "text": text(invalid)},
                "unknown": unknown,
                "prompts": [entry.name for entry in prompts.prompts],
                "prompt": prompt.messages[0].content.text,
                "resources": [str(entry.uri) for entry in resources.resources],
                "resource": resource.contents[0].text.split("\n")[0],
                "missing": missing,
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
