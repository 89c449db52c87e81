"""`python doctor-server.py PORT`: a server of the official Python SDK, as its documentation writes one, for `millrace doctor` to look at."""
import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("library", version="3.1.4")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def count_books() -> int:
    """How many books there are."""
    return 3


@server.tool()
def find_books(title: str | None = None, tags: list[str] = []) -> list[dict[str, str]]:
    """Books by a part of their title."""
    return [{"title": "Momo"}]


@server.resource("library://rules")
def rules() -> str:
    """What is allowed."""
    return "Be quiet."


server.run(transport="streamable-http", port=int(sys.argv[1]))
