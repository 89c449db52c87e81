"""`server.py PORT ROWS`: FastMCP, with a tool that returns the rows of the file ROWS in the way its documentation shows."""
import json
import sys

from fastmcp import FastMCP

mcp = FastMCP("peer")
ROWS = json.load(open(sys.argv[2]))


@mcp.tool
def rows() -> list[dict]:
    """The invoices."""
    return ROWS


mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", stateless_http=True, show_banner=False)
