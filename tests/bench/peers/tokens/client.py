"""`client.py URL TOOL`: FastMCP's client calls a tool without arguments, and prints what the server sent."""
import asyncio
import json
import sys

from fastmcp import Client


async def main():
    async with Client(sys.argv[1]) as client:
        await client.list_tools()
        result = (await client.call_tool_mcp(sys.argv[2], {})).model_dump(by_alias=True, mode="json", exclude_none=True)
    if result.get("isError"):
        sys.exit(json.dumps(result))
    print(json.dumps({"texts": [block["text"] for block in result["content"]], "structured": result.get("structuredContent")}))


asyncio.run(main())
