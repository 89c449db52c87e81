"""`python server.py LIST`: an MCP server on standard input and output that lists the tools of a file and answers a call with its arguments."""
import asyncio
import json
import sys

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main(path: str) -> None:
    with open(path) as file:
        tools = [types.Tool.model_validate(tool) for tool in json.load(file)]
    server = Server("lists")

    async def listed(request: types.ListToolsRequest) -> types.ServerResult:
        return types.ServerResult(types.ListToolsResult(tools=tools))

    async def called(request: types.CallToolRequest) -> types.ServerResult:
        text = json.dumps(request.params.arguments)
        return types.ServerResult(types.CallToolResult(content=[types.TextContent(type="text", text=text)]))

    server.request_handlers[types.ListToolsRequest] = listed
    server.request_handlers[types.CallToolRequest] = called
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main(sys.argv[1]))
