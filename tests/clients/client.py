"""`python client.py SERVER MODE`: what a user of the official Python client does, and prints what came back as JSON.

SERVER: an address, or JSON with the command to start, its arguments and variables. MODE: auto, legacy or 2026-07-28.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(server: str, mode: str) -> None:
    target = server if server.startswith("http") else StdioServerParameters(**json.loads(server))
    async with Client(target, mode=mode) as client:
        tools = await client.list_tools()
        user = await client.call_tool("get-user", {"id": 42})
        total = await client.call_tool("add", {"a": 2, "b": 40})
        invalid = await client.call_tool("get-user", {"id": "x"})
        try:
            unknown = await client.call_tool("no-such-tool", {})
            code = {"result": unknown.is_error}
        except Exception as error:
            code = getattr(getattr(error, "error", error), "code", repr(error))
        prompts = await client.list_prompts()
        prompt = await client.get_prompt("review-order", {"order_id": "7"})
        resources = await client.list_resources()
        resource = await client.read_resource("shop://guide")
    text = lambda result: [block.text for block in result.content]
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools.tools],
                "user": text(user),
                "sum": text(total),
                "invalid": {"isError": invalid.is_error, "text": text(invalid)},
                "unknown": code,
                "prompts": [entry.name for entry in prompts.prompts],
                "prompt": prompt.messages[0].content.text,
                "resources": [str(entry.uri) for entry in resources.resources],
                "resource": resource.contents[0].text.split("\n")[0],
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
