"""`python talk.py STREAMS ROUNDS`: progress, log lines and questions, as the official Python client hears and answers them.

Each server is an address, or JSON with the command to start, its arguments and variables.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, types

lines: list[str] = []


async def log(params):
    lines.append(f"{params.level}: {params.data}")


async def elicit(context, params):
    properties = params.requested_schema["properties"]
    content = {}
    if "answer" in properties:
        content = {"answer": "Ada" if params.message == "First?" else "Bob"}
    elif "name" in properties:
        content = {"name": "Ada"}
    return types.ElicitResult(action="accept", content=content)


async def sample(context, params):
    return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(type="text", text="Paris"))


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


def client(server: str, mode: str) -> Client:
    return Client(
        server if server.startswith("http") else StdioServerParameters(**json.loads(server)),
        mode=mode,
        logging_callback=log,
        log_level="warning",
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
    )


async def main(streams: str, rounds: str) -> None:
    out = {}
    for mode in ["2026-07-28", "legacy"]:
        async with client(streams, mode) as session:
            progress = []

            async def heard(done, total, message):
                progress.append([done, total])

            result = await session.call_tool("progress", {}, progress_callback=heard)
            lines.clear()
            logged = await session.call_tool("logs", {})
            # The callbacks of notifications run beside the call.
            await asyncio.sleep(0)
            out[mode] = {
                "progress": progress,
                "result": result.content[0].text,
                "lines": list(lines),
                "logged": logged.content[0].text,
            }
    # A legacy client can only be asked over a pipe.
    for mode in ["2026-07-28"] if rounds.startswith("http") else ["2026-07-28", "legacy"]:
        async with client(rounds, mode) as session:
            calls = [("ask", {}), ("twice", {}), ("sample", {}), ("confirmed", {"id": 7}), ("adapts", {})]
            answers = [(await session.call_tool(name, arguments)).content[0].text for name, arguments in calls]
            out["legacy rounds" if mode == "legacy" else "rounds"] = answers
    print(json.dumps(out))


asyncio.run(main(*sys.argv[1:]))
