"""`python converters.py LIST LIBRARY…`: gives the tools of a file to libraries as an MCP server would, and prints what they make of them.

LIST holds an array of tools as `tools/list` answers it. The result is an object with a member for each library: for each tool the names of the
arguments that the library would let a model fill in, and those that it asks for; or the error of the library.
"""
import asyncio
import json
import os
import sys
import traceback

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")


def of_schema(schema: dict) -> dict:
    return {"arguments": sorted(schema.get("properties", {})), "required": sorted(schema.get("required", []))}


def session(path: str):
    """A session of the official client."""
    from contextlib import asynccontextmanager

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    @asynccontextmanager
    async def open_session():
        async with stdio_client(StdioServerParameters(command=sys.executable, args=[SERVER, path])) as streams:
            async with ClientSession(*streams) as client:
                await client.initialize()
                yield client

    return open_session()


async def semantic_kernel(path: str) -> dict:
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStdioPlugin

    async with MCPStdioPlugin(name="app", command=sys.executable, args=[SERVER, path]) as plugin:
        kernel = Kernel()
        added = kernel.add_plugin(plugin)
        return {
            function.metadata.name: {
                "arguments": sorted(p.name for p in function.metadata.parameters),
                "required": sorted(p.name for p in function.metadata.parameters if p.is_required),
            }
            for function in added.functions.values()
        }


async def autogen(path: str) -> dict:
    from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools

    tools = await mcp_server_tools(StdioServerParams(command=sys.executable, args=[SERVER, path]))
    return {tool.schema["name"]: of_schema(tool.schema["parameters"]) for tool in tools}


async def smolagents(path: str) -> dict:
    from mcp import StdioServerParameters
    from smolagents import ToolCollection

    def collect() -> dict:
        with ToolCollection.from_mcp(
            StdioServerParameters(command=sys.executable, args=[SERVER, path], env=dict(os.environ)), trust_remote_code=True, structured_output=True
        ) as collection:
            return {
                tool.name: {
                    "arguments": sorted(tool.inputs),
                    "required": sorted(name for name, value in tool.inputs.items() if not value.get("nullable")),
                }
                for tool in collection.tools
            }

    return await asyncio.to_thread(collect)


async def dspy(path: str) -> dict:
    import dspy as library

    async with session(path) as client:
        tools = [library.Tool.from_mcp_tool(client, tool) for tool in (await client.list_tools()).tools]
    return {tool.name: {"arguments": sorted(tool.args), "required": None} for tool in tools}


async def llama_index(path: str) -> dict:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    tools = await McpToolSpec(client=BasicMCPClient(sys.executable, args=[SERVER, path])).to_tool_list_async()
    return {tool.metadata.name: of_schema(tool.metadata.get_parameters_dict()) for tool in tools}


async def langchain(path: str) -> dict:
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mcp_adapters.tools import load_mcp_tools

    async with session(path) as client:
        tools = [convert_to_openai_tool(tool)["function"] for tool in await load_mcp_tools(client)]
    return {tool["name"]: of_schema(tool["parameters"]) for tool in tools}


async def pydantic_ai(path: str) -> dict:
    from pydantic_ai import Agent
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.test import TestModel

    model = TestModel(call_tools=[])
    agent = Agent(model, toolsets=[MCPToolset(StdioTransport(command=sys.executable, args=[SERVER, path]))])
    async with agent:
        await agent.run("x")
    return {tool.name: of_schema(tool.parameters_json_schema) for tool in model.last_model_request_parameters.function_tools}


async def adk(path: str) -> dict:
    from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
    from mcp import StdioServerParameters

    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=StdioServerParameters(command=sys.executable, args=[SERVER, path])))
    result = {}
    for tool in await toolset.get_tools():
        declaration = tool._get_declaration()
        if declaration.parameters is not None:
            schema = declaration.parameters.model_dump(exclude_none=True)
        else:
            schema = declaration.parameters_json_schema
        result[tool.name] = of_schema(schema or {})
    await toolset.close()
    return result


async def openai_agents(path: str) -> dict:
    """With schemas made strict where that is possible: such a schema asks for every property. Others stay as they are."""
    from agents.mcp import MCPServerStdio, MCPUtil

    async with MCPServerStdio(params={"command": sys.executable, "args": [SERVER, path]}) as server:
        tools = await server.list_tools()
        result = {}
        for tool in tools:
            function = MCPUtil.to_function_tool(tool, server, True)
            result[function.name] = {
                "arguments": sorted(function.params_json_schema.get("properties", {})),
                "required": None,
            }
        return result


async def crewai(path: str) -> dict:
    from crewai_tools import MCPServerAdapter
    from mcp import StdioServerParameters

    def collect() -> dict:
        with MCPServerAdapter(StdioServerParameters(command=sys.executable, args=[SERVER, path], env=dict(os.environ))) as tools:
            return {tool.name: of_schema(tool.args_schema.model_json_schema()) for tool in tools}

    return await asyncio.to_thread(collect)


def main() -> None:
    path, *libraries = sys.argv[1:]
    # What libraries print goes to standard error: the result alone is on standard output.
    output, sys.stdout = sys.stdout, sys.stderr
    results = {}
    for library in libraries:
        try:
            results[library] = {"tools": asyncio.run(globals()[library](path))}
        except BaseException:
            results[library] = {"error": traceback.format_exc()}
    output.write(json.dumps(results))
    output.flush()


main()
